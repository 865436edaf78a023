// Slices that a loop computes again instead of reading them from stacks.
#ifndef SGD_PASSES_TIME_RECOMPUTE_DROP_STACKS_H
#define SGD_PASSES_TIME_RECOMPUTE_DROP_STACKS_H

#include "passes/graph/loops/loop_stacks.h"
#include "passes/timing/op_times.h"

namespace mlir::sgd {

/// Lets the second loop of `pair` compute the slices of the stacks `dropped`, which are left without readers.
void dropStacks(LoopPair& pair, ArrayRef<unsigned> dropped, const OpTimes& times);

}  // namespace mlir::sgd

#endif
