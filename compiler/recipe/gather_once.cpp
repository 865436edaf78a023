// Splits the uses of a parameter into those of its shards and those of the whole.
#include "compiler/recipe/gather_once.h"

#include "compiler/recipe/parameter_reads.h"

using namespace mlir;
using namespace mlir::sgd;

void mlir::sgd::gatherOnce(Value parameter, ShardingAttr gathered) {
  SmallVector<OpOperand*> whole;
  for (OpOperand& use : parameter.getUses()) {
    Operation* user = use.getOwner();
    if (readsWhole(use))
      whole.push_back(&use);
    else if (user->hasTrait<OpTrait::Elementwise>() && user->getNumOperands() == 1)
      gatherOnce(user->getResult(0), gathered);
  }
  if (whole.size() < 2 && llvm::none_of(whole, [](OpOperand* use) { return isReadInLoop(*use); })) return;
  OpBuilder builder(parameter.getContext());
  builder.setInsertionPointAfterValue(parameter);
  auto constraint = ShardingConstraintOp::create(builder, parameter.getLoc(), parameter, gathered);
  for (OpOperand* use : whole) use->set(constraint.getResult());
}
