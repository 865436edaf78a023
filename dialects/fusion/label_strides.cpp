// Sizes of the dimensions behind the label's, multiplied.
#include "dialects/fusion/label_strides.h"

using namespace mlir;

int64_t mlir::fusion::getLabelStride(ArrayRef<int64_t> labels, Value tensor, int64_t label) {
  ArrayRef<int64_t> shape = cast<RankedTensorType>(tensor.getType()).getShape();
  int64_t stride = 1;
  for (size_t dim = labels.size(); dim-- > 0;) {
    if (labels[dim] == label) return stride;
    stride *= shape[dim];
  }
  return 0;
}
