// As early as values are there; then ops move to the loop of their users where less is left in between.
#include "passes/sequential/loop_schedule.h"

#include "dialects/sgd/sharding_rule.h"
#include "dialects/sgd/tensor_layout.h"

using namespace mlir;
using namespace mlir::sgd;

static constexpr size_t kMaxRepeatedOps = 16;

LoopSchedule::LoopSchedule(func::FuncOp function, MeshAttr mesh, MeshAxisAttr axis)
    : function(function), axis(axis), differences(function, mesh) {
  for (Operation& op : function.front().without_terminator()) place(op);
  for (Operation& op : llvm::reverse(function.front().without_terminator())) sink(op);
  repeated.resize(numLoops);
  left.resize(numLoops);
  kept.resize(numLoops);
  findNeeded();
  for (unsigned loop = 0; loop < numLoops; ++loop) findRepeated(loop);
  findLeft();
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

void LoopSchedule::place(Operation& op) {
  LoopPlace place{isInLoop(&op), 0};
  for (Value operand : op.getOperands()) place.index = std::max(place.index, getFirst(operand));
  places[&op] = place;
  if (place.isInLoop) numLoops = std::max(numLoops, place.index + 1);
}

/// What is outside is computed as late as it can be, so that it is not kept through a loop that does not read it; but
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

/// Later, where that leaves fewer bytes from one loop to another.
void LoopSchedule::sink(Operation& op) {
  LoopPlace& place = places[&op];
  if (!place.isInLoop) return sinkOutside(op);
  if (joinsCoordinates(&op) || op.use_empty()) return;
  unsigned latest = numLoops;
  for (Operation* user : op.getUsers()) {
    LoopPlace of = places.lookup(user);
    if (isa<func::ReturnOp>(user) || !of.isInLoop) return;
    latest = std::min(latest, of.index);
  }
  if (latest <= place.index) return;
  int64_t leftNow = 0, leftThen = 0;
  for (Value result : op.getResults()) leftNow += varies(result) ? getByteSize(result.getType()) : 0;
  for (Value operand : op.getOperands()) {
    if (!operand.getDefiningOp() || !varies(operand) || getFirst(operand) >= latest) continue;
    bool isLeft = llvm::any_of(operand.getUsers(), [&](Operation* user) {
      LoopPlace of = places.lookup(user);
      return user != &op && of.isInLoop && of.index > getFirst(operand);
    });
    if (!isLeft) leftThen += getByteSize(operand.getType());
  }
  if (leftThen <= leftNow) place.index = latest;
}

bool LoopSchedule::isCheap(Operation* op) {
  return op->getNumRegions() == 0 && isPure(op) &&
         (isElementwise(op) || op->hasTrait<MovesElements>() || op->getNumOperands() == 0 ||
          isa<spmd::ShardSliceOp>(op));
}

void LoopSchedule::findNeeded() {
  for (Operation& op : function.front().without_terminator()) {
    LoopPlace place = places.lookup(&op);
    for (Value operand : op.getOperands()) {
      Operation* producer = operand.getDefiningOp();
      if (!place.isInLoop || !producer || !varies(operand) || isCheap(producer)) continue;
      if (places.lookup(producer).index < place.index) needed.insert(operand);
    }
  }
}

/// Whether loop `loop` can have `value` by `chain`, which may grow to `limit` ops, from what it has and what is left
/// for it anyway.
bool LoopSchedule::isRepeatable(Value value, unsigned loop, size_t limit, llvm::SetVector<Operation*>& chain) const {
  Operation* op = value.getDefiningOp();
  if (!op || !varies(value)) return true;
  LoopPlace place = places.lookup(op);
  if (place.index == loop || chain.contains(op) || needed.contains(value)) return true;
  if (!isCheap(op) || chain.size() >= limit) return false;
  for (Value operand : op->getOperands())
    if (!isRepeatable(operand, loop, limit, chain)) return false;
  chain.insert(op);
  return true;
}

void LoopSchedule::findRepeated(unsigned loop) {
  llvm::SetVector<Operation*> chosen;
  for (Operation& op : function.front().without_terminator()) {
    LoopPlace place = places.lookup(&op);
    if (!place.isInLoop || place.index != loop) continue;
    for (Value operand : op.getOperands()) {
      llvm::SetVector<Operation*> chain = chosen;
      if (isRepeatable(operand, loop, chosen.size() + kMaxRepeatedOps, chain)) chosen = chain;
    }
  }
  repeated[loop].assign(chosen.begin(), chosen.end());
  llvm::sort(repeated[loop], [](Operation* a, Operation* b) { return a->isBeforeInBlock(b); });
}

void LoopSchedule::findLeft() {
  auto read = [&](Value value, LoopPlace by, ArrayRef<Operation*> own) {
    Operation* op = value.getDefiningOp();
    LoopPlace from = op ? places.lookup(op) : LoopPlace();
    if (!from.isInLoop || (by.isInLoop && from.index == by.index) || llvm::is_contained(own, op)) return;
    if (varies(value))
      left[from.index].insert(value);
    else if (!joinsCoordinates(op))
      kept[from.index].insert(value);
  };
  for (Operation& op : function.front()) {
    LoopPlace place = places.lookup(&op);
    for (Value operand : op.getOperands())
      if (place.isInLoop || !varies(operand))
        read(operand, place, place.isInLoop ? repeated[place.index] : ArrayRef<Operation*>());
  }
  for (unsigned loop = 0; loop < numLoops; ++loop)
    for (Operation* op : repeated[loop])
      for (Value operand : op->getOperands()) read(operand, {true, loop}, repeated[loop]);
}
