#include "passes/sharding/propagation/loop_addends.h"

#include "passes/sharding/propagation/partial_values.h"

using namespace mlir;
using namespace mlir::sgd;

SmallVector<OpOperand*> mlir::sgd::getLoopAddends(WhileOp loop, unsigned iterArg, ReduceKind kind) {
  if (!loop.getCondition().empty() && !loop.getCondition().getArgument(iterArg).use_empty()) return {};
  SmallVector<OpOperand*> addends;
  Value sum = loop.getBody().getArgument(iterArg);
  while (sum.hasOneUse()) {
    OpOperand& use = *sum.use_begin();
    Operation* op = use.getOwner();
    if (isa<YieldOp>(op)) return use.getOperandNumber() == iterArg ? addends : SmallVector<OpOperand*>();
    if (!joinsPartials(op, kind)) return {};
    addends.push_back(&op->getOpOperand(1 - use.getOperandNumber()));
    sum = op->getResult(0);
  }
  return {};
}
