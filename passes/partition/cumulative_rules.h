// Local rule of cumulative sums and the like.
#ifndef SGD_PASSES_PARTITION_CUMULATIVE_RULES_H
#define SGD_PASSES_PARTITION_CUMULATIVE_RULES_H

#include "passes/partition/local_rules.h"

namespace mlir::sgd {

/// Replaces the op, sharded or not, by combinations of shifted values; along a sharded dimension the ranks' totals are
/// gathered, and each rank combines those before it with its own results. Returns what the op's uses were redirected
/// to.
FailureOr<Value> localizeCumulative(CumulativeOp op, const LocalisedOp& localised, ReshardEmitter& emitter);

}  // namespace mlir::sgd

#endif
