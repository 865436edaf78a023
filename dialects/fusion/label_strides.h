// Where the dimensions that fusion.convolution labels lie in memory.
#ifndef SGD_DIALECTS_FUSION_LABEL_STRIDES_H
#define SGD_DIALECTS_FUSION_LABEL_STRIDES_H

#include "dialects/fusion/fusion_dialect.h"

namespace mlir::fusion {

/// Elements from one index to the next of the dimension called `label`, in a row-major tensor whose dimensions are
/// `labels`; 0 where it has none.
int64_t getLabelStride(ArrayRef<int64_t> labels, Value tensor, int64_t label);

}  // namespace mlir::fusion

#endif
