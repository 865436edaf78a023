// Constants and iotas: folded, split per use before propagation, retyped after it. One sweep over the program, in its
// order: all values must be split before anything propagates.
#include "passes/sharding/propagation/constants.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace mlir::sgd;

bool mlir::sgd::isMadeFreely(Value value) {
  Operation* op = value.getDefiningOp();
  return op && isa<arith::ConstantOp, IotaOp>(op) && isa<RankedTensorType>(value.getType());
}

/// Replaces an op that moves the elements of a constant by what its folder makes of it, if that is a constant.
static void foldMovement(Operation* op) {
  auto constant = movesOneTensor(op) ? op->getOperand(0).getDefiningOp<arith::ConstantOp>() : arith::ConstantOp();
  SmallVector<OpFoldResult, 1> folded;
  if (!constant || failed(op->fold({constant.getValue()}, folded)) || folded.empty()) return;
  auto value = dyn_cast_if_present<TypedAttr>(dyn_cast<Attribute>(folded.front()));
  if (!value) return;
  OpBuilder builder(op);
  op->getResult(0).replaceAllUsesWith(arith::ConstantOp::create(builder, op->getLoc(), value));
  op->erase();
  if (constant->use_empty()) constant->erase();
}

/// Every use but one gets a copy. They stand just before their users, which keeps their lives
/// short.
static void splitUses(Operation* op) {
  Value value = op->getResult(0);
  SmallVector<OpOperand*> uses = llvm::map_to_vector(value.getUses(), [](OpOperand& use) { return &use; });
  for (OpOperand* use : ArrayRef<OpOperand*>(uses).drop_back()) {
    OpBuilder builder(use->getOwner());
    use->set(builder.clone(*op)->getResult(0));
  }
  op->moveBefore(uses.back()->getOwner());
}

void mlir::sgd::splitFreeValues(func::FuncOp function) {
  SmallVector<Operation*> freeOps;
  for (Block* block : getProgramBlocks(function)) {
    for (Operation& op : llvm::make_early_inc_range(*block)) foldMovement(&op);
    for (Operation& op : *block) {
      if (op.getNumResults() != 1 || !isMadeFreely(op.getResult(0))) continue;
      auto type = dyn_cast<RankedTensorType>(op.getResult(0).getType());
      if (type && type.getRank() > 0 && !op.use_empty()) freeOps.push_back(&op);
    }
  }
  for (Operation* op : freeOps) splitUses(op);
}

void mlir::sgd::retypeFreeValue(Value value, ShardingAttr sharding) {
  RankedTensorType type = withSharding(cast<RankedTensorType>(value.getType()), sharding);
  value.setType(type);
  if (auto constant = value.getDefiningOp<arith::ConstantOp>())
    constant.setValueAttr(cast<DenseElementsAttr>(constant.getValue()).reshape(type));
}
