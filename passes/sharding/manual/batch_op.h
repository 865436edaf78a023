// One op of a manual computation, for all ranks at once.
#ifndef SGD_PASSES_SHARDING_MANUAL_BATCH_OP_H
#define SGD_PASSES_SHARDING_MANUAL_BATCH_OP_H

#include "passes/sharding/manual/batch_rule.h"

namespace mlir::sgd {

/// Rewrites `op`, of the body of a manual computation, for `operands` and appends its results. An op of the graph level
/// takes the leading dimensions along as batch dimensions; a collective becomes an op on them. Fails with a diagnostic
/// on an op that cannot.
LogicalResult batchOp(Operation* op, ArrayRef<Batched> operands, BatchBuilder& batch,
                      SmallVectorImpl<Batched>& results);

}  // namespace mlir::sgd

#endif
