// Sums that loops accumulate, while shardings are chosen.
#ifndef SGD_PASSES_SHARDING_PROPAGATION_LOOP_REDUCTIONS_H
#define SGD_PASSES_SHARDING_PROPAGATION_LOOP_REDUCTIONS_H

#include "passes/sharding/propagation/propagation.h"

namespace mlir::sgd {

/// An iter_arg that the body only adds to need not be reduced before the loop ends (sgd-place-reductions reduces it
/// there): reductions that feed nothing else give partial results over the axes that shard the dimensions they reduce,
/// so that the choice of their assignment does not count a collective per iteration.
void keepLoopReductionsPartial(ArrayRef<RuledOp> ops, ShardingMap& map);

}  // namespace mlir::sgd

#endif
