// sgd.grouped_dot and the sizes of one.
#ifndef SGD_DIALECTS_SGD_GROUPED_DOT_H
#define SGD_DIALECTS_SGD_GROUPED_DOT_H

#include "dialects/sgd/sgd_dialect.h"

#define GET_OP_CLASSES
#include "dialects/sgd/grouped_dot_ops.h.inc"

namespace mlir::sgd {

/// The sizes of a verified op.
struct GroupedDotSizes {
  explicit GroupedDotSizes(GroupedDotOp op);

  SmallVector<int64_t> batch;  // the leading dimensions
  int64_t m, k, n, groups;
};

}  // namespace mlir::sgd

#endif
