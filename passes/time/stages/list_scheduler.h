// A list scheduler for the tasks of a pipeline. Plain C++, no IR.
#ifndef SGD_PASSES_TIME_STAGES_LIST_SCHEDULER_H
#define SGD_PASSES_TIME_STAGES_LIST_SCHEDULER_H

#include <limits>

#include "passes/time/stages/pipeline_schedule.h"

namespace mlir::sgd {

/// The time of a task on balanced stages: forward, and gradients of activations and of weights take a unit each.
unsigned getUnits(const PipelineForm& form, SlotKind kind);

/// After how many parts stage s computes gradients of weights rather than to go forward: `parts` + s * `slope`.
struct WeightsDelay {
  unsigned parts = std::numeric_limits<unsigned>::max();
  unsigned slope = 0;
};

/// Simulates balanced stages, which start the best of their ready tasks, with as many micro-batches in flight as `form`
/// allows: backward first, then forward, then gradients of weights that nothing else waits for. `slots` are any in the
/// order in which a part goes through them.
PipelineSchedule scheduleByList(const PipelineForm& form, llvm::ArrayRef<Slot> slots, unsigned numParts,
                                WeightsDelay delay = {});

}  // namespace mlir::sgd

#endif
