// Attention and its gradients as ops (attention_ops.td), and the sizes that they share.
#ifndef SGD_DIALECTS_FUSION_ATTENTION_H
#define SGD_DIALECTS_FUSION_ATTENTION_H

#include "dialects/fusion/fusion_dialect.h"

#include "dialects/fusion/attention_interface.h.inc"

#define GET_OP_CLASSES
#include "dialects/fusion/attention_ops.h.inc"

namespace mlir::fusion {

/// Sizes by label: rows, columns, depth, depth of values, then batch dimensions. 0: no operand has the label.
SmallVector<int64_t> getAttentionSizes(AttentionOpInterface op);

/// The shape of row_max, row_sum and row_dot: batch dimensions, then rows.
SmallVector<int64_t> getRowStatisticsShape(AttentionOpInterface op);

}  // namespace mlir::fusion

#endif
