// Ops start in the first loop that has their operands; minimum cuts between loops then move them to later ones.
#include "passes/time/sequential/loop_schedule.h"

#include "dialects/sgd/sharding_rule.h"
#include "dialects/sgd/tensor_layout.h"
#include "passes/time/sequential/loop_boundary.h"

using namespace mlir;
using namespace mlir::sgd;

/// The part of an op's bytes that running it again counts as.
static constexpr int64_t kRepeatedPart = 16;

/// How often each loop chooses what earlier ones leave for it, at most.
static constexpr unsigned kMostRounds = 4;

LoopSchedule::LoopSchedule(func::FuncOp function, MeshAttr mesh, MeshAxisAttr axis)
    : function(function), axis(axis), differences(function, mesh) {
  for (Operation& op : function.front().without_terminator()) placeEarly(op);
  if (numLoops > 1) moveLater();
  for (Operation& op : llvm::reverse(function.front().without_terminator()))
    if (!places.lookup(&op).isInLoop) sinkOutside(op);
  repeated.resize(numLoops);
  left.resize(numLoops);
  kept.resize(numLoops);
  chooseLeft();
  findKept();
}

bool LoopSchedule::joinsCoordinates(Operation* op) const {
  auto collective = dyn_cast<spmd::CollectiveOpInterface>(op);
  if (!collective || !axis) return false;
  spmd::CollectiveForm form = collective.getForm();
  return namesAxis(form.group, axis) || namesAxis(form.from, axis);
}

bool LoopSchedule::isInLoop(Operation* op) const {
  auto isVarying = [&](Value value) { return varies(value); };
  return joinsCoordinates(op) || llvm::any_of(op->getResults(), isVarying) ||
         llvm::any_of(op->getOperands(), isVarying);
}

unsigned LoopSchedule::getFirst(Value value) const {
  Operation* op = value.getDefiningOp();
  if (!op) return 0;
  LoopPlace place = places.lookup(op);
  return place.index + (place.isInLoop && !varies(value) ? 1 : 0);
}

void LoopSchedule::placeEarly(Operation& op) {
  LoopPlace place{isInLoop(&op), 0};
  for (Value operand : op.getOperands()) place.index = std::max(place.index, getFirst(operand));
  places[&op] = place;
  if (place.isInLoop) numLoops = std::max(numLoops, place.index + 1);
}

/// Ops go to later loops where fewer bytes are then left from one loop to another. From the last boundary to the first:
/// ops behind a boundary are behind all earlier ones.
void LoopSchedule::moveLater() {
  LoopBoundary boundary(function, *this, axis.getSize());
  DenseMap<Operation*, unsigned> loops;
  for (unsigned loop = numLoops - 1; loop > 0; --loop)
    for (Operation* op : boundary.getLater(loop)) loops.try_emplace(op, loop);
  for (Operation& op : function.front().without_terminator()) {
    LoopPlace& place = places[&op];
    if (place.isInLoop) {
      place.index = std::max(place.index, loops.lookup(&op));
      continue;
    }
    place.index = 0;
    for (Value operand : op.getOperands()) place.index = std::max(place.index, getFirst(operand));
  }
}

/// Sinks ops outside of loops as far as possible, so that no value is stored through a loop that does not read it; but
/// not where it is smaller than what it is computed from.
void LoopSchedule::sinkOutside(Operation& op) {
  if (op.use_empty() || !isPure(&op)) return;
  LoopPlace& place = places[&op];
  unsigned latest = numLoops;
  for (Operation* user : op.getUsers())
    if (!isa<func::ReturnOp>(user)) latest = std::min(latest, places.lookup(user).index);
  int64_t read = 0, made = 0;
  for (Value operand : op.getOperands())
    if (operand.getDefiningOp()) read += getByteSize(operand.getType());
  for (Value result : op.getResults()) made += getByteSize(result.getType());
  if (latest > place.index && read <= made) place.index = latest;
}

bool LoopSchedule::isCheap(Operation* op) {
  return op->getNumRegions() == 0 && isPure(op) &&
         (isElementwise(op) || op->hasTrait<MovesElements>() || op->getNumOperands() == 0 ||
          isa<spmd::ShardSliceOp>(op));
}

std::optional<int64_t> LoopSchedule::getRepeatCost(Operation* op) {
  if (!isCheap(op)) return std::nullopt;
  int64_t made = 0;
  for (Value result : op->getResults()) made += getByteSize(result.getType());
  return made / kRepeatedPart + 1;
}

/// Varying values that `loop` reads of earlier loops: those that are left for it and those that it computes again.
StoredValues LoopSchedule::findStored(unsigned loop, llvm::function_ref<int64_t(Value)> getStoreCost) {
  auto isThere = [&](Value value) {
    Operation* op = value.getDefiningOp();
    return !op || !varies(value) || places.lookup(op).index == loop;
  };
  llvm::SetVector<Value> values;
  for (Operation& op : function.front().without_terminator())
    if (LoopPlace place = places.lookup(&op); place.isInLoop && place.index == loop)
      for (Value operand : op.getOperands())
        if (!isThere(operand)) values.insert(operand);
  return chooseStored({values.getArrayRef(), isThere, getStoreCost, getRepeatCost});
}

/// Each loop chooses in turn, until no choice changes. Loops share the cost of what is left for several of them: so of
/// a value and what is computed from it, one is left, although each of two loops may read another one.
void LoopSchedule::chooseLeft() {
  SmallVector<StoredValues> choices(numLoops);
  DenseMap<Value, unsigned> readers;
  bool isSettled = false;
  for (unsigned round = 0; round < kMostRounds && !isSettled; ++round) {
    isSettled = true;
    for (unsigned loop = 1; loop < numLoops; ++loop) {
      for (Value value : choices[loop].stored) --readers[value];
      StoredValues choice =
          findStored(loop, [&](Value value) { return getByteSize(value.getType()) / (readers.lookup(value) + 1); });
      for (Value value : choice.stored) ++readers[value];
      isSettled &= choice.stored == choices[loop].stored;
      choices[loop] = std::move(choice);
    }
  }
  for (auto [loop, choice] : llvm::enumerate(choices)) {
    for (Value value : choice.stored) left[places.lookup(value.getDefiningOp()).index].insert(value);
    repeated[loop].assign(choice.repeated.begin(), choice.repeated.end());
    llvm::sort(repeated[loop], [](Operation* a, Operation* b) { return a->isBeforeInBlock(b); });
  }
}

/// Values that all coordinates have alike, computed in a loop and read behind it.
void LoopSchedule::findKept() {
  auto read = [&](Operation* reader, LoopPlace by) {
    for (Value value : reader->getOperands()) {
      Operation* op = value.getDefiningOp();
      LoopPlace from = op ? places.lookup(op) : LoopPlace();
      if (!from.isInLoop || varies(value) || joinsCoordinates(op) || (by.isInLoop && from.index == by.index)) continue;
      kept[from.index].insert(value);
    }
  };
  for (Operation& op : function.front()) read(&op, places.lookup(&op));
  for (unsigned loop = 0; loop < numLoops; ++loop)
    for (Operation* op : repeated[loop]) read(op, {true, loop});
}
