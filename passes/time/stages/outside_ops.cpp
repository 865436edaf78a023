// Where ops behind all loops are placed: updates of parameters and state.
#include "passes/time/stages/placement.h"

using namespace mlir;
using namespace mlir::sgd;

/// The stage that computes most bytes from `value`.
int Placement::getUserStage(Value value) const {
  SmallVector<int64_t> bytes(numStages, 0);
  for (Operation* user : value.getUsers())
    if (auto stage = stages.find(user); stage != stages.end())
      for (Value result : user->getResults()) bytes[stage->second] += flow.getBytes(result);
  auto most = llvm::max_element(bytes);
  return *most > 0 ? static_cast<int>(most - bytes.begin()) : kNone;
}

/// To the parameter that they update, else where most of what they read is; state, and what is computed from it alone,
/// where it is read.
void Placement::placeOutside() {
  for (Operation& op : flow.getOps()) {
    if (flow.isInGraph(&op) || flow.isShared(&op) || stages.contains(&op)) continue;
    int stage = gradients.lookup(&op);
    if (stage == kNone) stage = getStageOfMostBytes(op.getOperands(), /*last=*/false);
    if (stage != kNone) stages[&op] = stage;
  }
  for (Operation& op : llvm::reverse(flow.getOps())) {
    if (stages.contains(&op) || flow.isShared(&op)) continue;
    int stage = kNone;
    for (Value result : op.getResults())
      if (stage == kNone) stage = getUserStage(result);
    stages[&op] = std::max(stage, 0);
  }
  for (BlockArgument argument : flow.getFunction().getArguments()) {
    if (flow.isShared(argument) || given.contains(argument)) continue;
    int stage = getUserStage(argument);
    if (OpOperand* next = flow.getNext(argument); next && stage == kNone) stage = getStage(next->get());
    given[argument] = std::max(stage, 0);
  }
}
