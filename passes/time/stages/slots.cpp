// Turns: numbers in the zigzag over virtual stages. Then slots: the turns, and behind all of them those for weights.
#include "passes/time/stages/slots.h"

using namespace mlir;
using namespace mlir::sgd;

StageSet mlir::sgd::toStages(const PipelineForm& form, const StageSet& set) {
  StageSet stages(form.numStages);
  for (unsigned stage : set.set_bits()) stages.set(form.getStage(stage));
  return stages;
}

namespace {
class SlotFormation {
 public:
  SlotFormation(const ProgramFlow& flow, const Placement& placement, const PipelineForm& form, unsigned loop)
      : flow(flow), placement(placement), form(form), loop(loop), last(form.getNumVirtualStages() - 1) {
    for (Operation& op : flow.getOps())
      if (isHere(&op)) ops.push_back(&op);
  }

  LoopSlots run(const OpTimes& times);

 private:
  bool isHere(Operation* op) const {
    LoopPlace place = flow.getLoops().get(op);
    return place.isInLoop && place.index == loop;
  }
  unsigned getVirtualStage(unsigned turn) const;
  unsigned getNext(unsigned turn, llvm::function_ref<bool(unsigned)> isWanted) const;
  SlotKind getKind(unsigned turn) const;
  void findTurns();
  void findReceived();
  void findWeights();
  bool isForWeights(Operation* op) const;

  const ProgramFlow& flow;
  const Placement& placement;
  const PipelineForm& form;
  unsigned loop, last;
  SmallVector<Operation*> ops;
  DenseMap<Operation*, unsigned> turns;
  DenseMap<std::pair<Value, unsigned>, unsigned> received;  // turns
  llvm::DenseSet<Operation*> weights;
  unsigned numTurns = 0;
};
}  // namespace

unsigned SlotFormation::getVirtualStage(unsigned turn) const {
  if (last == 0) return 0;
  unsigned place = turn % (2 * last);
  return place <= last ? place : 2 * last - place;
}

unsigned SlotFormation::getNext(unsigned turn, llvm::function_ref<bool(unsigned)> isWanted) const {
  while (!isWanted(getVirtualStage(turn))) ++turn;
  return turn;
}

SlotKind SlotFormation::getKind(unsigned turn) const {
  if (last == 0) return SlotKind::Turn;
  unsigned place = turn % (2 * last);
  if (place == last) return SlotKind::Turn;
  return turn == 0 || (place > 0 && place < last) ? SlotKind::Forward : SlotKind::Backward;
}

void SlotFormation::findTurns() {
  for (Operation* op : ops) {
    unsigned turn = 0;
    for (Value operand : op->getOperands())
      if (Operation* producer = operand.getDefiningOp(); producer && isHere(producer))
        turn = std::max(turn, turns.lookup(producer));
    if (!placement.isEverywhere(op)) {
      unsigned stage = placement.get(op).find_first();
      turn = getNext(turn, [&](unsigned other) { return other == stage; });
    }
    turns[op] = turn;
    numTurns = std::max(numTurns, turn + 1);
  }
}

/// Finds values that only later loops of another stage read.
void SlotFormation::findReceived() {
  for (Operation* op : ops)
    for (Value result : op->getResults()) {
      if (placement.isEverywhere(op) || !flow.getLoops().varies(result)) continue;
      StageSet readers = toStages(form, placement.getNeeding(result));
      readers.reset(toStages(form, placement.get(op)));
      for (Operation* user : result.getUsers())
        if (isHere(user)) readers.reset(toStages(form, placement.get(user)));
      for (unsigned stage : readers.set_bits()) {
        unsigned turn = getNext(turns.lookup(op), [&](unsigned other) { return form.getStage(other) == stage; });
        received[{result, stage}] = turn;
        numTurns = std::max(numTurns, turn + 1);
      }
    }
}

/// Whether nothing but sums over all parts, and ops that are for weights themselves, read what `op` computes.
bool SlotFormation::isForWeights(Operation* op) const {
  SlotKind kind = getKind(turns.lookup(op));
  if (placement.isEverywhere(op) || (kind != SlotKind::Backward && kind != SlotKind::Turn)) return false;
  if (flow.getLoops().joinsCoordinates(op)) return isa<spmd::AllReduceOp>(op);
  return llvm::all_of(op->getUsers(), [&](Operation* user) {
    return weights.contains(user) && turns.lookup(user) == turns.lookup(op);
  });
}

void SlotFormation::findWeights() {
  for (Operation* op : llvm::reverse(ops))
    if (isForWeights(op)) weights.insert(op);
}

LoopSlots SlotFormation::run(const OpTimes& times) {
  findTurns();
  findReceived();
  if (form.splitsWeights()) findWeights();
  // Whole passes, forward and back, have the usual orders.
  numTurns = std::max(numTurns, numTurns <= last + 1 ? last + 1 : 2 * last + 1);
  LoopSlots result;
  DenseMap<unsigned, unsigned> weightsOfTurn;
  for (unsigned turn = 0; turn < numTurns; ++turn)
    result.slots.push_back({form.getStage(getVirtualStage(turn)), getKind(turn), 0, {}});
  for (Operation* op : ops) {
    unsigned slot = turns.lookup(op);
    if (weights.contains(op)) {
      auto [place, isNew] = weightsOfTurn.try_emplace(slot, result.slots.size());
      if (isNew) result.slots.push_back({result.slots[slot].stage, SlotKind::Weights, 0, {slot}});
      slot = place->second;
    }
    result.slotOf[op] = slot;
    if (!placement.isEverywhere(op)) result.slots[slot].seconds += times.get(op);
  }
  result.receivedFor = received;
  return result;
}

LoopSlots mlir::sgd::formSlots(const ProgramFlow& flow, const Placement& placement, const PipelineForm& form,
                               unsigned loop, const OpTimes& times) {
  return SlotFormation(flow, placement, form, loop).run(times);
}
