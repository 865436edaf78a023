// The work of one stage in each slot of each loop: ops, receives, sends and values stored for later. The IR is only
// read.
#ifndef SGD_PASSES_TIME_STAGES_STAGE_PLAN_H
#define SGD_PASSES_TIME_STAGES_STAGE_PLAN_H

#include "llvm/ADT/MapVector.h"
#include "passes/time/stages/repeat_costs.h"
#include "passes/time/stages/slots.h"

namespace mlir::sgd {

/// A slot of a loop.
struct SlotPosition {
  unsigned loop = 0, slot = 0;
  auto operator<=>(const SlotPosition&) const = default;
};

/// A loop over all parts. The schedule comes last: it follows from what slots need.
struct LoopPlan {
  LoopSlots slots;
  PipelineSchedule schedule;
};

/// The parts of a task of a slot, in this order; all lists are in the order of the program.
struct SlotContent {
  SmallVector<Value> received;
  SmallVector<Operation*> ops;  ///< with those that earlier slots have computed, and this one does again
  SmallVector<Value> kept;      ///< what all parts have alike and something behind the loop reads
  SmallVector<Value> stored;    ///< for later slots and loops
  SmallVector<OpOperand*> returned;
  SmallVector<Value> sent;
  bool isEmpty() const { return received.empty() && ops.empty() && sent.empty() && stored.empty(); }
};

/// That `slot` needs `from`.
void addNeed(LoopSlots& slots, unsigned slot, unsigned from);

class StagePlan {
 public:
  /// `loops` outlives it, and so does `costs`.
  StagePlan(const ProgramFlow& flow, const Placement& placement, const PipelineForm& form, ArrayRef<LoopPlan> loops,
            const RepeatCosts& costs, unsigned stage, unsigned numParts);

  const SlotContent& get(SlotPosition position) const { return contents[position.loop][position.slot]; }
  /// The slot in which this stage computes or receives `value`, which differs between parts.
  SlotPosition getHome(Value value) const { return homes.find(value)->second; }
  bool hasHome(Value value) const { return homes.contains(value); }
  /// Adds to the slots of `loops` that a later slot of this stage needs the one that stores a value for it.
  void addNeeds(MutableArrayRef<LoopPlan> loops) const;
  /// Adds to the slots of `loops` the time of what they run again.
  void addRepeated(MutableArrayRef<LoopPlan> loops) const;
  /// Counts places, by the schedules of the loops.
  void countPlaces();
  /// Of a stored value: for how many parts.
  int64_t getPlaces(Value value) const { return places.lookup(value); }
  /// For one part, of all stored values.
  int64_t getStoredBytes() const;

 private:
  bool computes(Operation* op) const;
  bool isOfPart(Value value) const;
  void findHomes();
  std::optional<SlotPosition> findFirstReader(Operation* op) const;
  SlotPosition findOwnSlot(Operation* op) const;
  void findContents();
  void findStored();

  const ProgramFlow& flow;
  const Placement& placement;
  const PipelineForm& form;
  ArrayRef<LoopPlan> loops;
  const RepeatCosts& costs;
  unsigned stage, numParts;
  DenseMap<Operation*, SlotPosition> positions;  // of ops that the stage computes in loops
  DenseMap<Value, SlotPosition> homes;
  std::vector<std::vector<SlotContent>> contents;
  std::vector<std::vector<llvm::SetVector<Operation*>>> repeated;
  llvm::MapVector<Value, SmallVector<SlotPosition, 2>> readers;  // of what is stored: in other slots than its home
  DenseMap<Value, int64_t> places;
};

}  // namespace mlir::sgd

#endif
