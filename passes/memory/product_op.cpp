// One case per kind of product in each function.
#include "passes/memory/product_op.h"

using namespace mlir;
using namespace mlir::sgd;

ProductOp::ProductOp(Operation* op) : op(isa_and_nonnull<plan::MatmulOp, plan::ConvolutionOp>(op) ? op : nullptr) {}

Value ProductOp::getTarget() const {
  if (auto matmul = dyn_cast<plan::MatmulOp>(op)) return matmul.getC();
  return cast<plan::ConvolutionOp>(op).getResult();
}

std::array<Value, 2> ProductOp::getFactors() const {
  if (auto matmul = dyn_cast<plan::MatmulOp>(op)) return {matmul.getA(), matmul.getB()};
  auto convolution = cast<plan::ConvolutionOp>(op);
  return {convolution.getLhs(), convolution.getRhs()};
}

bool ProductOp::hasEpilogue() const {
  if (auto matmul = dyn_cast<plan::MatmulOp>(op))
    return matmul.getEpilogue() != plan::Epilogue::None || matmul.getActivation() != plan::Activation::None;
  return cast<plan::ConvolutionOp>(op).getEpilogue() != plan::Epilogue::None;
}

static Type elementOf(Value buffer) { return cast<MemRefType>(buffer.getType()).getElementType(); }

static MatmulCall getCall(plan::MatmulOp matmul, ArrayRef<Epilogue> epilogue) {
  MatmulCall call{elementOf(matmul.getA()), elementOf(matmul.getB()), elementOf(matmul.getC()), {}, matmul.getTf32()};
  ArrayRef<int64_t> sizes = matmul.getSizes().take_back(3), a = matmul.getAStrides(), b = matmul.getBStrides(),
                    c = matmul.getCStrides();
  ContractionShape& shape = call.shape;
  std::tie(shape.m, shape.n, shape.k) = std::tuple(sizes[0], sizes[1], sizes[2]);
  shape.batch.assign(matmul.getSizes().drop_back(3));
  shape.aBatch.assign(a.drop_back(2));
  shape.bBatch.assign(b.drop_back(2));
  shape.cBatch.assign(c.drop_back(2));
  std::tie(shape.aM, shape.aK) = std::pair(a.take_back(2)[0], a.back());
  std::tie(shape.bK, shape.bN) = std::pair(b.take_back(2)[0], b.back());
  std::tie(shape.cM, shape.cN) = std::pair(c.take_back(2)[0], c.back());
  call.epilogue.assign(epilogue);
  return call;
}

static ConvolutionCall getCall(plan::ConvolutionOp convolution, ArrayRef<Epilogue> epilogue) {
  ConvolutionCall call;
  call.operand = elementOf(convolution.getLhs());
  call.result = elementOf(convolution.getResult());
  ArrayRef<int64_t> sizes = convolution.getSizes(), lhs = convolution.getLhsStrides(),
                    rhs = convolution.getRhsStrides(), result = convolution.getResultStrides();
  call.batch = {sizes[0], lhs[0], 0, result[0]};
  call.groups = {sizes[1], lhs[1], rhs[0], result[1]};
  call.inputs = {sizes[2], lhs[2], rhs[1], 0};
  call.outputs = {sizes[3], 0, rhs[2], result[2]};
  for (int64_t dim = 0; dim < convolution.getNumSpatialDims(); ++dim)
    call.windows.push_back({convolution.getInputs()[dim], convolution.getOutputs()[dim], convolution.getKernels()[dim],
                            convolution.getStrides()[dim], convolution.getDilations()[dim], convolution.getLow()[dim],
                            convolution.getLhsDilations() ? (*convolution.getLhsDilations())[dim] : 1, lhs[3 + dim],
                            rhs[3 + dim], result[3 + dim]});
  call.epilogue.assign(epilogue);
  return call;
}

bool ProductOp::isTaken(const LibraryModel& libraries, ArrayRef<Epilogue> epilogue) const {
  if (auto matmul = dyn_cast<plan::MatmulOp>(op)) return libraries.takes(getCall(matmul, epilogue));
  return libraries.takes(getCall(cast<plan::ConvolutionOp>(op), epilogue));
}

int64_t ProductOp::getColumns() const {
  if (auto matmul = dyn_cast<plan::MatmulOp>(op)) return matmul.getSizes()[matmul.getNumBatchDims() + 1];
  ArrayRef<int64_t> sizes = cast<plan::ConvolutionOp>(op).getSizes();
  return sizes[1] * sizes[3];
}

bool ProductOp::isRowMajor(int64_t elements) const {
  int64_t columns = getColumns(), written = 1;
  auto isMultiple = [&](int64_t stride) { return stride % columns == 0; };
  if (auto matmul = dyn_cast<plan::MatmulOp>(op)) {
    ArrayRef<int64_t> strides = matmul.getCStrides();
    for (int64_t size : matmul.getSizes().drop_back()) written *= size;
    return strides.back() == 1 && written == elements && llvm::all_of(strides.drop_back(), isMultiple);
  }
  auto convolution = cast<plan::ConvolutionOp>(op);
  ArrayRef<int64_t> strides = convolution.getResultStrides(), sizes = convolution.getSizes();
  written = sizes[0] * columns;
  for (int64_t size : convolution.getOutputs()) written *= size;
  bool isInnermost = (sizes[3] == 1 || strides[2] == 1) && (sizes[1] == 1 || strides[1] == sizes[3]);
  return isInnermost && written == elements && isMultiple(strides[0]) &&
         llvm::all_of(strides.drop_front(3), isMultiple);
}

Operation* ProductOp::create(OpBuilder& builder, Value target, Value bias, plan::Epilogue epilogue) const {
  auto attr = plan::EpilogueAttr::get(builder.getContext(), epilogue);
  if (auto matmul = dyn_cast<plan::MatmulOp>(op))
    return plan::MatmulOp::create(builder, op->getLoc(), matmul.getA(), matmul.getB(), target, bias, matmul.getAux(),
                                  matmul.getSums(), matmul.getWorkspace(), matmul.getSizesAttr(),
                                  matmul.getAStridesAttr(), matmul.getBStridesAttr(), matmul.getCStridesAttr(), attr,
                                  matmul.getActivationAttr(), matmul.getTf32Attr());
  auto convolution = cast<plan::ConvolutionOp>(op);
  return plan::ConvolutionOp::create(
      builder, op->getLoc(), convolution.getLhs(), convolution.getRhs(), target, bias, convolution.getWorkspace(),
      convolution.getSizesAttr(), convolution.getInputsAttr(), convolution.getOutputsAttr(),
      convolution.getKernelsAttr(), convolution.getStridesAttr(), convolution.getDilationsAttr(),
      convolution.getLowAttr(), convolution.getLhsDilationsAttr(), convolution.getLhsStridesAttr(),
      convolution.getRhsStridesAttr(), convolution.getResultStridesAttr(), attr, convolution.getTf32Attr());
}
