// Launches, matmuls, convolutions and tiles; sizes and strides are the plan's.
#include "compiler/export/convolution_instruction.h"
#include "compiler/export/export_enums.h"
#include "compiler/export/export_interface.h"
#include "passes/plan/lowering/member_lines.h"
#include "runtime/artifact/epilogue.h"

using namespace mlir;
using namespace mlir::sgd;

artifact::LaunchT mlir::sgd::exportLaunch(plan::LaunchOp launch, OperandExporter& operands) {
  artifact::LaunchT target;
  target.kernel = operands.kernels.lookup(launch.getKernel());
  target.outputs = launch.getOutputs().size();
  for (Value buffer : launch.getOperands()) target.buffers.push_back(operands.slices.get(buffer));
  if (launch.getCoordinates())
    for (auto axes : launch.getCoordinates()->getAsRange<AxisListAttr>()) {
      target.coordinates.push_back(std::make_unique<artifact::CoordinateT>());
      target.coordinates.back()->axes = getAxisRefs(axes.getAxes(), operands.mesh);
    }
  for (StringRef line : getMemberLines(launch.getLoc())) target.members.push_back(operands.locations(line));
  target.range = launch.getRange();
  target.grain = launch.getGrain();
  return target;
}

static FailureOr<artifact::MatmulT> exportMatmul(plan::MatmulOp matmul, SliceExporter& slices) {
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
  if (matmul.getReduction()) target.reduction = slices.getOwned(matmul.getReduction());
  if (matmul.getWorkspace()) target.workspace = slices.getOwned(matmul.getWorkspace());
  target.epilogue = artifact::StepsOf(matmul.getEpilogue());
  Type rhsType = matmul.getB().getType().getElementType(), resultType = matmul.getC().getType().getElementType();
  if (rhsType != operandType) target.b_element = getElementType(rhsType, /*isUnsigned=*/false);
  if (resultType != operandType) target.c_element = getElementType(resultType, /*isUnsigned=*/false);
  target.allows_tf32 = matmul.getTf32();
  return target;
}

namespace {

struct LaunchExport : ExportOpInterface::ExternalModel<LaunchExport, plan::LaunchOp> {
  LogicalResult exportTo(Operation* op, OperandExporter& operands, artifact::InstructionT& instruction) const {
    instruction.op.Set(exportLaunch(cast<plan::LaunchOp>(op), operands));
    return success();
  }
};

struct MatmulExport : ExportOpInterface::ExternalModel<MatmulExport, plan::MatmulOp> {
  LogicalResult exportTo(Operation* op, OperandExporter& operands, artifact::InstructionT& instruction) const {
    FailureOr<artifact::MatmulT> target = exportMatmul(cast<plan::MatmulOp>(op), operands.slices);
    if (failed(target)) return failure();
    instruction.op.Set(std::move(*target));
    return success();
  }
};

struct ConvolutionExport : ExportOpInterface::ExternalModel<ConvolutionExport, plan::ConvolutionOp> {
  LogicalResult exportTo(Operation* op, OperandExporter& operands, artifact::InstructionT& instruction) const {
    auto convolution = cast<plan::ConvolutionOp>(op);
    SliceExporter& slices = operands.slices;
    std::optional<artifact::ConvolutionT> target = getConvolutionInstruction(convolution);
    if (!target) return convolution.emitOpError("has an element type that artifacts do not have");
    target->lhs = slices.getOwned(convolution.getLhs());
    target->rhs = slices.getOwned(convolution.getRhs());
    target->result = slices.getOwned(convolution.getResult());
    if (convolution.getBias()) target->bias = slices.getOwned(convolution.getBias());
    if (convolution.getWorkspace()) target->workspace = slices.getOwned(convolution.getWorkspace());
    instruction.op.Set(std::move(*target));
    return success();
  }
};

struct TiledExport : ExportOpInterface::ExternalModel<TiledExport, plan::TiledOp> {
  LogicalResult exportTo(Operation* op, OperandExporter& operands, artifact::InstructionT& instruction) const {
    auto tiled = cast<plan::TiledOp>(op);
    artifact::TiledT target;
    target.loops.assign(tiled.getLoops().begin(), tiled.getLoops().end());
    for (unsigned index = 0; index < tiled.getNumOperands(); ++index) {
      auto operand = std::make_unique<artifact::TileOperandT>();
      operand->slice = operands.slices.getOwned(tiled.getOperand(index));
      ArrayRef<int64_t> strides = tiled.getOperandStrides(index);
      operand->strides.assign(strides.begin(), strides.end());
      target.operands.push_back(std::move(operand));
    }
    target.outputs = tiled.getOutputs().size();
    target.scratch_bytes = tiled.getScratchBytes();
    for (auto step : tiled.getBody().front().getOps<plan::InstructionOpInterface>()) {
      FailureOr<std::unique_ptr<artifact::TileStepT>> exported = exportStep(step, operands);
      if (failed(exported)) return failure();
      target.steps.push_back(std::move(*exported));
    }
    instruction.op.Set(std::move(target));
    return success();
  }

  static FailureOr<std::unique_ptr<artifact::TileStepT>> exportStep(Operation* op, OperandExporter& operands) {
    auto step = std::make_unique<artifact::TileStepT>();
    for (Value operand : op->getOperands()) {
      Value root = plan::getRoot(operand).root;
      step->operands.push_back(getTiledOf(root) ? cast<BlockArgument>(root).getArgNumber() : -1);
    }
    if (auto launch = dyn_cast<plan::LaunchOp>(op)) {
      step->op.Set(exportLaunch(launch, operands));
    } else {
      FailureOr<artifact::MatmulT> matmul = exportMatmul(cast<plan::MatmulOp>(op), operands.slices);
      if (failed(matmul)) return failure();
      step->op.Set(std::move(*matmul));
    }
    return step;
  }
};

}  // namespace

void mlir::sgd::registerComputeExports(MLIRContext& context) {
  plan::LaunchOp::attachInterface<LaunchExport>(context);
  plan::MatmulOp::attachInterface<MatmulExport>(context);
  plan::ConvolutionOp::attachInterface<ConvolutionExport>(context);
  plan::TiledOp::attachInterface<TiledExport>(context);
}
