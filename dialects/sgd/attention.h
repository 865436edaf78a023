// Attention and its gradients as ops (attention_ops.td), and the sizes that they share.
#ifndef SGD_DIALECTS_SGD_ATTENTION_H
#define SGD_DIALECTS_SGD_ATTENTION_H

#include "dialects/sgd/sgd_dialect.h"

#include "dialects/sgd/attention_interface.h.inc"

#define GET_OP_CLASSES
#include "dialects/sgd/attention_ops.h.inc"

namespace mlir::sgd {

/// Sizes by label: rows, columns, depth, depth of values, then batch dimensions. 0: no operand has the label.
SmallVector<int64_t> getAttentionSizes(AttentionOpInterface op);

/// The shape of row_max, row_sum and row_dot: batch dimensions, then rows.
SmallVector<int64_t> getRowStatisticsShape(AttentionOpInterface op);

}  // namespace mlir::sgd

#endif
