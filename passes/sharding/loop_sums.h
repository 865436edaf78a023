// Sums that loops accumulate, while shardings are chosen.
#ifndef SGD_PASSES_SHARDING_LOOP_SUMS_H
#define SGD_PASSES_SHARDING_LOOP_SUMS_H

#include "passes/sharding/propagation.h"

namespace mlir::sgd {

/// What a loop only adds to a iter_arg need not be whole before the loop ends (sgd-place-reductions takes the sum
/// there): ops that reduce and feed nothing else are to give partial results over the axes that shard what they reduce,
/// so that the choice of their assignment does not count a reduction per iteration.
void keepLoopSumsPartial(ArrayRef<RuledOp> ops, ShardingMap& map);

}  // namespace mlir::sgd

#endif
