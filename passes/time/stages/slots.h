// The slots of a loop over parts of the batch: what a part goes through, stage by stage, forward and back.
//
// With V virtual stages a part goes 0, 1, .., V-1, V-2, .., 0, and again where a program goes up and down several
// times. An op is in the first slot of its stage behind the slots of what it reads.
#ifndef SGD_PASSES_TIME_STAGES_SLOTS_H
#define SGD_PASSES_TIME_STAGES_SLOTS_H

#include "passes/time/stages/pipeline_schedule.h"
#include "passes/time/stages/placement.h"
#include "passes/timing/op_times.h"

namespace mlir::sgd {

struct LoopSlots {
  std::vector<Slot> slots;  ///< in the order of a part; some have nothing to do
  /// Of ops that one stage computes, their slot; of those that each stage computes which needs them, the first slot in
  /// which all that they read is there.
  DenseMap<Operation*, unsigned> slotOf;
  /// Values that only later loops read on another stage, which receives them in a slot of this loop.
  DenseMap<std::pair<Value, unsigned>, unsigned> receivedFor;  // by value and stage
};

/// Of loop number `loop`. `form` says which virtual stages a stage has, and whether ops that nothing but sums over all
/// parts needs are in slots of their own.
LoopSlots formSlots(const ProgramFlow& flow, const Placement& placement, const PipelineForm& form, unsigned loop,
                    const OpTimes& times);

/// The stages that have virtual stages `set`.
StageSet toStages(const PipelineForm& form, const StageSet& set);

}  // namespace mlir::sgd

#endif
