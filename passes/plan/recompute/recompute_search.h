// Chooses what to recompute, and what to have on the host meanwhile, so that no more than a budget is alive at any
// time, in little time. Plain C++, no IR.
#ifndef SGD_PASSES_PLAN_RECOMPUTE_RECOMPUTE_SEARCH_H
#define SGD_PASSES_PLAN_RECOMPUTE_RECOMPUTE_SEARCH_H

#include "passes/plan/recompute/timeline.h"

namespace mlir::sgd::remat {

/// A timeline that peaks at `budget` or below, or, where none is found, as low as the search got. Greedy: of all
/// buffers that wait for a later reader while memory is above the budget, again and again the one that lowers the
/// excess over time most per second of recomputation, as in XLA's HloRematerialization; steps that nobody else needs
/// before move instead, at no cost. What sequences allow to be on the host costs what copies cannot hide. At the end,
/// what turned out to be unnecessary is undone, the most expensive first. Deterministic.
Timeline chooseRecomputation(const StepSequence& sequence, const Units& units, int64_t budget);

}  // namespace mlir::sgd::remat

#endif
