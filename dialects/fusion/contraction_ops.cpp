// Verifiers of matmuls and convolutions, and a convolution's sizes by label.
#include "dialects/fusion/verify_labels.h"

using namespace mlir;
using namespace mlir::fusion;
using sgd::tensorType;

LogicalResult MatmulOp::verify() {
  Type lhs = tensorType(getLhs()).getElementType(), result = tensorType(getResult()).getElementType();
  if (!sgd::mayMultiply(lhs, tensorType(getRhs()).getElementType(), result)) return emitOpError("mixes element types");
  return verifyContraction(*this);
}

int64_t ConvolutionOp::getLhsSize(int64_t label) { return getLabelSize(getLhsLabels(), getLhs(), label); }
int64_t ConvolutionOp::getRhsSize(int64_t label) { return getLabelSize(getRhsLabels(), getRhs(), label); }
int64_t ConvolutionOp::getResultSize(int64_t label) { return getLabelSize(getResultLabels(), getResult(), label); }

LogicalResult ConvolutionOp::verify() { return verifyConvolution(*this); }
