// Expands a dot_general that no library call computes into ops that become a kernel.
#ifndef SGD_PASSES_KERNELS_LOWERING_EXPAND_DOT_GENERAL_H
#define SGD_PASSES_KERNELS_LOWERING_EXPAND_DOT_GENERAL_H

#include "dialects/sgd/sgd_dialect.h"

namespace mlir::sgd {

/// Replaces `dot`, of integers of one type, by both operands repeated to [batch.., lhs free.., rhs free..,
/// contracted..], their products, and sums over the contracted dimensions: one cluster, in which nothing is repeated in
/// memory.
void expandDotGeneral(DotGeneralOp dot);

}  // namespace mlir::sgd

#endif
