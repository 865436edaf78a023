// The order in which loops drop their stacks.
#ifndef SGD_PASSES_TIME_RECOMPUTE_STACK_ORDER_H
#define SGD_PASSES_TIME_RECOMPUTE_STACK_ORDER_H

#include <limits>

#include "passes/graph/loops/loop_stacks.h"
#include "passes/timing/op_times.h"

namespace mlir::sgd {

/// Stacks of one pair that are dropped together, and their cost on top of that of earlier steps.
struct StackStep {
  unsigned pair = 0;
  SmallVector<unsigned, 1> stacks;
  int64_t freedBytes = 0;
  double seconds = 0, flops = 0;
  bool isFree = false;  ///< computing the slices takes less time than writing and reading them

  double getWorth() const { return static_cast<double>(freedBytes) / std::max(seconds, 1e-12); }
};

struct StackOrder {
  std::vector<StackStep> steps;
  uint64_t numVisited = 0;  ///< ops that the search visited, each time anew
};

/// The first `count` steps for all pairs of a function: next is always the step that frees most bytes per second of
/// recomputation.
StackOrder findStackOrder(ArrayRef<LoopPair> pairs, const OpTimes& times,
                          uint64_t count = std::numeric_limits<uint64_t>::max());

/// The steps that are free, in that order.
StackOrder findFreeStacks(ArrayRef<LoopPair> pairs, const OpTimes& times);

}  // namespace mlir::sgd

#endif
