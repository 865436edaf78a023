// One function for each kind of op; sizes and strides are the plan's.
#include "compiler/export_compute.h"

using namespace mlir;
using namespace mlir::sgd;

artifact::LaunchT mlir::sgd::exportLaunch(plan::LaunchOp launch, SliceExporter& slices, const ExportContext& context) {
  artifact::LaunchT target;
  target.kernel = context.kernels.lookup(launch.getKernel());
  target.outputs = launch.getOutputs().size();
  for (Value buffer : launch.getOperands()) target.buffers.push_back(slices.get(buffer));
  if (launch.getCoordinates())
    for (auto axes : launch.getCoordinates()->getAsRange<AxisListAttr>()) {
      target.coordinates.push_back(std::make_unique<artifact::CoordinateT>());
      target.coordinates.back()->axes = getAxisRefs(axes.getAxes(), context.mesh);
    }
  target.range = launch.getRange();
  target.grain = launch.getGrain();
  return target;
}

FailureOr<artifact::MatmulT> mlir::sgd::exportMatmul(plan::MatmulOp matmul, SliceExporter& slices) {
  artifact::MatmulT target;
  Type operandType = matmul.getA().getType().getElementType();
  auto element = getElementType(operandType, /*isUnsigned=*/false);
  if (!element) return matmul.emitOpError("has an element type that artifacts do not have");
  target.element = *element;
  size_t batch = matmul.getNumBatchDims();
  ArrayRef<int64_t> sizes = matmul.getSizes(), a = matmul.getAStrides(), b = matmul.getBStrides(),
                    c = matmul.getCStrides();
  target.batch_dims.assign(sizes.begin(), sizes.begin() + batch);
  target.a_batch.assign(a.begin(), a.begin() + batch);
  target.b_batch.assign(b.begin(), b.begin() + batch);
  target.c_batch.assign(c.begin(), c.begin() + batch);
  std::tie(target.m, target.n, target.k) = std::tuple(sizes[batch], sizes[batch + 1], sizes[batch + 2]);
  std::tie(target.a_m, target.a_k, target.b_k, target.b_n) = std::tuple(a[batch], a[batch + 1], b[batch], b[batch + 1]);
  std::tie(target.c_m, target.c_n) = std::tuple(c[batch], c[batch + 1]);
  target.a = slices.getOwned(matmul.getA());
  target.b = slices.getOwned(matmul.getB());
  target.c = slices.getOwned(matmul.getC());
  if (matmul.getBias()) target.bias = slices.getOwned(matmul.getBias());
  if (matmul.getAux()) target.aux = slices.getOwned(matmul.getAux());
  if (matmul.getSums()) target.sums = slices.getOwned(matmul.getSums());
  if (matmul.getWorkspace()) target.workspace = slices.getOwned(matmul.getWorkspace());
  target.epilogue = static_cast<artifact::Epilogue>(matmul.getEpilogue());
  target.activation = static_cast<artifact::Activation>(matmul.getActivation());
  Type rhsType = matmul.getB().getType().getElementType(), resultType = matmul.getC().getType().getElementType();
  if (rhsType != operandType) target.b_element = getElementType(rhsType, /*isUnsigned=*/false);
  target.keeps_sums = resultType != operandType && resultType == getSumType(operandType);
  if (resultType != operandType && !target.keeps_sums)
    target.c_element = getElementType(resultType, /*isUnsigned=*/false);
  target.allows_tf32 = matmul.getTf32();
  return target;
}

FailureOr<artifact::ConvolutionT> mlir::sgd::exportConvolution(plan::ConvolutionOp convolution, SliceExporter& slices) {
  artifact::ConvolutionT target;
  auto element = getElementType(convolution.getLhs().getType().getElementType(), /*isUnsigned=*/false);
  if (!element) return convolution.emitOpError("has an element type that artifacts do not have");
  target.element = *element;
  ArrayRef<int64_t> sizes = convolution.getSizes(), lhs = convolution.getLhsStrides(),
                    rhs = convolution.getRhsStrides(), result = convolution.getResultStrides();
  using Dim = artifact::ConvolutionDim;
  target.batch = std::make_unique<Dim>(sizes[0], lhs[0], 0, result[0]);
  target.groups = std::make_unique<Dim>(sizes[1], lhs[1], rhs[0], result[1]);
  target.inputs = std::make_unique<Dim>(sizes[2], lhs[2], rhs[1], 0);
  target.outputs = std::make_unique<Dim>(sizes[3], 0, rhs[2], result[2]);
  for (int64_t dim = 0; dim < convolution.getNumSpatialDims(); ++dim)
    target.spatial.emplace_back(convolution.getInputs()[dim], convolution.getOutputs()[dim],
                                convolution.getKernels()[dim], convolution.getStrides()[dim],
                                convolution.getDilations()[dim], convolution.getLow()[dim], lhs[3 + dim], rhs[3 + dim],
                                result[3 + dim]);
  target.lhs = slices.getOwned(convolution.getLhs());
  target.rhs = slices.getOwned(convolution.getRhs());
  target.result = slices.getOwned(convolution.getResult());
  if (convolution.getBias()) target.bias = slices.getOwned(convolution.getBias());
  if (convolution.getWorkspace()) target.workspace = slices.getOwned(convolution.getWorkspace());
  target.epilogue = static_cast<artifact::Epilogue>(convolution.getEpilogue());
  target.allows_tf32 = convolution.getTf32();
  if (auto dilations = convolution.getLhsDilations()) target.lhs_dilations.assign(dilations->begin(), dilations->end());
  Type operand = convolution.getLhs().getType().getElementType();
  target.rounds = operand != getSumType(operand) && operand == convolution.getResult().getType().getElementType();
  return target;
}

FailureOr<artifact::TiledT> mlir::sgd::exportTiled(plan::TiledOp tiled, SliceExporter& slices,
                                                   const ExportContext& context) {
  artifact::TiledT target;
  target.loops.assign(tiled.getLoops().begin(), tiled.getLoops().end());
  for (unsigned index = 0; index < tiled.getNumOperands(); ++index) {
    auto operand = std::make_unique<artifact::TileOperandT>();
    operand->slice = slices.getOwned(tiled.getOperand(index));
    ArrayRef<int64_t> strides = tiled.getOperandStrides(index);
    operand->strides.assign(strides.begin(), strides.end());
    target.operands.push_back(std::move(operand));
  }
  target.outputs = tiled.getOutputs().size();
  target.scratch_bytes = tiled.getScratchBytes();
  for (Operation& op : tiled.getBody().front()) {
    if (!isa<plan::LaunchOp, plan::MatmulOp>(op)) continue;
    auto step = std::make_unique<artifact::TileStepT>();
    for (Value operand : op.getOperands()) {
      Value root = plan::getRoot(operand).root;
      step->operands.push_back(getTiledOf(root) ? cast<BlockArgument>(root).getArgNumber() : -1);
    }
    if (auto launch = dyn_cast<plan::LaunchOp>(op)) {
      step->op.Set(exportLaunch(launch, slices, context));
    } else {
      FailureOr<artifact::MatmulT> matmul = exportMatmul(cast<plan::MatmulOp>(op), slices);
      if (failed(matmul)) return failure();
      step->op.Set(std::move(*matmul));
    }
    target.steps.push_back(std::move(step));
  }
  return target;
}
