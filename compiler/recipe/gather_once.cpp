// Splits the uses of a parameter into those of its shards and those of the whole.
#include "compiler/recipe/gather_once.h"

using namespace mlir;
using namespace mlir::sgd;

static bool readsWhole(Operation* user) {
  return !user->hasTrait<OpTrait::Elementwise>() && !user->hasTrait<OpTrait::IsTerminator>() && !isControlFlow(user) &&
         !isa<ReduceOp, ShardingConstraintOp>(user);
}

void mlir::sgd::gatherOnce(Value parameter, ShardingAttr gathered) {
  SmallVector<OpOperand*> whole;
  for (OpOperand& use : parameter.getUses()) {
    Operation* user = use.getOwner();
    if (readsWhole(user))
      whole.push_back(&use);
    else if (user->hasTrait<OpTrait::Elementwise>() && user->getNumOperands() == 1)
      gatherOnce(user->getResult(0), gathered);
  }
  if (whole.size() < 2) return;
  OpBuilder builder(parameter.getContext());
  builder.setInsertionPointAfterValue(parameter);
  auto constraint = ShardingConstraintOp::create(builder, parameter.getLoc(), parameter, gathered);
  for (OpOperand* use : whole) use->set(constraint.getResult());
}
