// Readers come from the program, in its order; what is stored between slots from a minimum cut.
#include "passes/time/stages/stage_plan.h"

#include <map>

#include "dialects/sgd/tensor_layout.h"
#include "passes/time/sequential/stored_values.h"

using namespace mlir;
using namespace mlir::sgd;

StagePlan::StagePlan(const ProgramFlow& flow, const Placement& placement, const PipelineForm& form,
                     ArrayRef<LoopPlan> loops, const RepeatCosts& costs, unsigned stage, unsigned numParts)
    : flow(flow), placement(placement), form(form), loops(loops), costs(costs), stage(stage), numParts(numParts) {
  for (const LoopPlan& loop : loops) {
    contents.emplace_back(loop.slots.slots.size());
    repeated.emplace_back(loop.slots.slots.size());
  }
  findHomes();
  findStored();
  findContents();
}

void mlir::sgd::addNeed(LoopSlots& slots, unsigned slot, unsigned from) {
  std::vector<unsigned>& needs = slots.slots[slot].needs;
  if (slot == from || llvm::is_contained(needs, from)) return;
  needs.insert(llvm::upper_bound(needs, from), from);
}

void StagePlan::addNeeds(MutableArrayRef<LoopPlan> changed) const {
  for (const auto& [value, positionsOf] : readers) {
    SlotPosition home = homes.lookup(value);
    for (SlotPosition at : positionsOf)
      if (at.loop == home.loop) addNeed(changed[at.loop].slots, at.slot, home.slot);
  }
}

bool StagePlan::computes(Operation* op) const { return toStages(form, placement.get(op)).test(stage); }

/// Whether each part has a value of its own, or one that is known only in the loop.
bool StagePlan::isOfPart(Value value) const {
  Operation* op = value.getDefiningOp();
  return op && flow.getLoops().get(op).isInLoop && !flow.getLoops().joinsCoordinates(op);
}

/// The first of this stage's slots in which something reads a result of `op`. Slots for weights come in any order among
/// each other: where several of them read it, and no other slot does, it is there before.
std::optional<SlotPosition> StagePlan::findFirstReader(Operation* op) const {
  llvm::SmallSetVector<std::pair<unsigned, unsigned>, 4> readers;
  for (Operation* user : op->getUsers())
    if (auto position = positions.find(user); position != positions.end())
      readers.insert({position->second.loop, position->second.slot});
  if (readers.empty()) return std::nullopt;
  auto [loop, slot] = *llvm::min_element(readers);
  bool isForWeights = loops[loop].slots.slots[slot].kind == SlotKind::Weights;
  if (isForWeights && readers.size() > 1 && flow.getLoops().get(op).index == loop) return findOwnSlot(op);
  return SlotPosition{loop, slot};
}

/// The first slot of this stage in the op's own loop that has what it reads.
SlotPosition StagePlan::findOwnSlot(Operation* op) const {
  unsigned loop = flow.getLoops().get(op).index;
  const std::vector<Slot>& slots = loops[loop].slots.slots;
  unsigned slot = loops[loop].slots.slotOf.lookup(op);
  while (slot + 1 < slots.size() && (slots[slot].stage != stage || slots[slot].kind == SlotKind::Weights)) ++slot;
  return {loop, slot};
}

/// From the last op to the first, so that readers are known.
void StagePlan::findHomes() {
  const LoopSchedule& schedule = flow.getLoops();
  for (Operation& op : llvm::reverse(flow.getOps())) {
    if (!schedule.get(&op).isInLoop) continue;
    unsigned loop = schedule.get(&op).index;
    if (computes(&op)) {
      std::optional<SlotPosition> position;
      if (!placement.isEverywhere(&op)) position = {loop, loops[loop].slots.slotOf.lookup(&op)};
      bool isOutside = schedule.joinsCoordinates(&op) || llvm::any_of(op.getUsers(), [&](Operation* user) {
                         return isa<func::ReturnOp>(user) || !schedule.get(user).isInLoop;
                       });
      if (!position && !isOutside) position = findFirstReader(&op);
      positions[&op] = position ? *position : findOwnSlot(&op);
      for (Value result : op.getResults()) homes[result] = positions[&op];
      continue;
    }
    for (Value result : op.getResults()) {
      if (!isOfPart(result) || !toStages(form, placement.getNeeding(result)).test(stage)) continue;
      auto later = loops[loop].slots.receivedFor.find({result, stage});
      std::optional<SlotPosition> first = findFirstReader(&op);
      if (later != loops[loop].slots.receivedFor.end())
        homes[result] = {loop, later->second};
      else if (first)
        homes[result] = *first;
    }
  }
}

/// In the order of a part, so that what is stored for one slot is there for later ones.
void StagePlan::findStored() {
  std::map<SlotPosition, llvm::SetVector<Value>> bySlot;
  for (Operation& op : flow.getOps())
    if (auto position = positions.find(&op); position != positions.end())
      for (Value operand : op.getOperands())
        if (isOfPart(operand) && homes.lookup(operand) != position->second) bySlot[position->second].insert(operand);
  for (const auto& [position, values] : bySlot) {
    SlotPosition at = position;
    auto isThere = [&](Value value) { return !isOfPart(value) || homes.lookup(value) == at; };
    auto getStoreCost = [&](Value value) { return readers.contains(value) ? 0 : getByteSize(value.getType()); };
    auto getRepeatCost = [&](Operation* op) { return positions.contains(op) ? costs.get(op) : std::nullopt; };
    StoredValues choice = chooseStored({values.getArrayRef(), isThere, getStoreCost, getRepeatCost});
    for (Value value : choice.stored) readers[value].push_back(at);
    repeated[at.loop][at.slot] = std::move(choice.repeated);
  }
}

void StagePlan::addRepeated(MutableArrayRef<LoopPlan> changed) const {
  for (auto [loop, slots] : llvm::enumerate(repeated))
    for (auto [slot, ops] : llvm::enumerate(slots))
      for (Operation* op : ops) changed[loop].slots.slots[slot].seconds += costs.getSeconds(op);
}

void StagePlan::countPlaces() {
  for (auto& [value, positionsOf] : readers) {
    SlotPosition home = homes.lookup(value);
    int64_t most = 1;
    for (SlotPosition at : positionsOf)
      most = std::max<int64_t>(
          most, at.loop != home.loop ? numParts : getMostStashed(loops[at.loop].schedule, stage, home.slot, at.slot));
    places[value] = most;
  }
}

int64_t StagePlan::getStoredBytes() const {
  int64_t bytes = 0;
  for (const auto& [value, _] : readers) bytes += getByteSize(value.getType());
  return bytes;
}

void StagePlan::findContents() {
  Block& block = flow.getFunction().front();
  auto at = [&](SlotPosition position) -> SlotContent& { return contents[position.loop][position.slot]; };
  for (Operation& op : block.without_terminator()) {
    auto position = positions.find(&op);
    for (auto [loop, slots] : llvm::enumerate(repeated))
      for (auto [slot, chosen] : llvm::enumerate(slots))
        if (chosen.contains(&op)) contents[loop][slot].ops.push_back(&op);
    if (position != positions.end()) at(position->second).ops.push_back(&op);
    for (Value result : op.getResults()) {
      auto home = homes.find(result);
      if (home == homes.end() || !isOfPart(result)) continue;
      SlotContent& content = at(home->second);
      if (position == positions.end()) content.received.push_back(result);
      if (readers.contains(result)) content.stored.push_back(result);
      bool isReadOutside = llvm::any_of(op.getUsers(), [&](Operation* user) {
        return llvm::is_contained(user->getOperands(), result) && !flow.getLoops().get(user).isInLoop;
      });
      if (!flow.getLoops().varies(result) && isReadOutside) content.kept.push_back(result);
      StageSet receivers = toStages(form, placement.getNeeding(result));
      receivers.reset(toStages(form, placement.get(&op)));
      if (position != positions.end() && receivers.any()) content.sent.push_back(result);
    }
  }
  for (OpOperand& operand : block.getTerminator()->getOpOperands()) {
    bool isHere = toStages(form, placement.getReturning(operand)).test(stage);
    if (isHere && isOfPart(operand.get()) && flow.getLoops().varies(operand.get()))
      at(homes.lookup(operand.get())).returned.push_back(&operand);
  }
}
