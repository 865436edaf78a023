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

bool ProductOp::mayHaveBias() const {
  auto matmul = dyn_cast<plan::MatmulOp>(op);
  return !matmul || !sgd::isFloat8(matmul.getA().getType().getElementType()) ||
         !matmul.getC().getType().getElementType().isF32();
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
