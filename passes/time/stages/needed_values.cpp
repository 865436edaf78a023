// Which stages need which values: from the results back to the arguments.
#include "dialects/sgd/stages.h"
#include "dialects/sgd/tensor_layout.h"
#include "passes/time/stages/placement.h"

using namespace mlir;
using namespace mlir::sgd;

void Placement::need(Value value, const StageSet& by) {
  auto [place, isNew] = needing.try_emplace(value, numStages);
  place->second |= by;
}

/// Whether `op` is computed by those who need it, because what it reads is smaller than what it makes and costs no more
/// than reading that.
bool Placement::isSentSmaller(Operation* op, const StageSet& users) const {
  StageSet others = users;
  others.reset(stages.lookup(op));
  if (others.none() || !LoopSchedule::isCheap(op)) return false;
  LoopPlace place = flow.getLoops().get(op);
  for (Operation* user : op->getUsers())
    if (LoopPlace of = flow.getLoops().get(user); place.isInLoop && (!of.isInLoop || of.index != place.index))
      return false;
  int64_t read = 0, made = 0;
  for (Value operand : op->getOperands())
    if (!flow.isShared(operand)) read += flow.getBytes(operand);
  for (Value result : op->getResults()) made += flow.getBytes(result);
  return read < made;
}

/// State that is shared is on all stages, in all programs alike; so it is needed there from the beginning.
void Placement::findNeeding() {
  func::FuncOp function = flow.getFunction();
  const StageSet all(numStages, true);
  Operation* terminator = function.front().getTerminator();
  for (OpOperand& result : terminator->getOpOperands()) {
    BlockArgument carried = flow.getCarried(result);
    auto given = function.getResultAttrOfType<IntegerAttr>(result.getOperandNumber(), kStageAttr);
    StageSet set = one(carried ? getStage(carried) : given ? static_cast<int>(given.getInt()) : getStage(result.get()));
    if (carried && flow.isShared(carried)) set = all;
    returning[&result] = set;
    need(result.get(), set);
  }
  for (Operation& op : llvm::reverse(function.front().without_terminator())) {
    StageSet users(numStages);
    for (Value result : op.getResults()) {
      need(result, StageSet(numStages));
      users |= getNeeding(result);
    }
    bool isShared = !stages.contains(&op) || isSentSmaller(&op, users);
    if (isShared) everywhere.insert(&op);
    StageSet& set = computing.try_emplace(&op, isShared ? users : one(stages.lookup(&op))).first->second;
    for (Value operand : op.getOperands()) need(operand, set);
  }
  for (BlockArgument argument : function.getArguments()) {
    need(argument, StageSet(numStages));
    StageSet set = flow.isShared(argument) ? getNeeding(argument) : one(given.lookup(argument));
    if (flow.isShared(argument) && (set.none() || flow.isSharedState(argument)))
      set = flow.getNext(argument) ? all : one(0);
    holding[argument] = set;
  }
}
