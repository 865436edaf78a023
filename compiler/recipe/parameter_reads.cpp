// Follows values into loops and branches along their data flow.
#include "compiler/recipe/parameter_reads.h"

#include "dialects/sgd/data_flow.h"

using namespace mlir;
using namespace mlir::sgd;

/// The arguments of bodies that hold the value of `use`, an operand of a loop or branch, in every iteration.
static SmallVector<Value> getConstantArguments(OpOperand& use) {
  auto op = cast<DataFlowOpInterface>(use.getOwner());
  std::optional<unsigned> number = op.getDataFlowEdgeFrom(use);
  if (!number) return {};
  DataFlowEdge edge = op.getDataFlowEdge(*number);
  if (edge.isChosen()) return {};
  return llvm::filter_to_vector(edge.targets, [](Value target) { return isa<BlockArgument>(target); });
}

static bool isConversion(Operation* op) { return op->hasTrait<OpTrait::Elementwise>() && op->getNumOperands() == 1; }

static bool isReadWholeInBody(Value value) {
  return llvm::any_of(value.getUses(), [](OpOperand& use) {
    Operation* user = use.getOwner();
    if (isConversion(user)) return isReadWholeInBody(user->getResult(0));
    return !isa<SliceOp, DynamicSliceOp>(user) && readsWhole(use);
  });
}

bool mlir::sgd::readsWhole(OpOperand& use) {
  Operation* user = use.getOwner();
  if (isControlFlow(user)) return llvm::any_of(getConstantArguments(use), isReadWholeInBody);
  return !user->hasTrait<OpTrait::Elementwise>() && !user->hasTrait<OpTrait::IsTerminator>() &&
         !isa<ReduceOp, ShardingConstraintOp>(user);
}

bool mlir::sgd::isReadInLoop(OpOperand& use) {
  Operation* user = use.getOwner();
  if (isa<WhileOp>(user)) return readsWhole(use);
  return user->hasTrait<MovesElements>() && user->getNumResults() == 1 && llvm::any_of(user->getUses(), isReadInLoop);
}

bool mlir::sgd::isReadByRows(Value value, int64_t dim) {
  int64_t size = cast<RankedTensorType>(value.getType()).getDimSize(dim);
  return size > 1 && llvm::any_of(value.getUses(), [&](OpOperand& use) {
           Operation* user = use.getOwner();
           if (isControlFlow(user))
             return llvm::any_of(getConstantArguments(use),
                                 [&](Value argument) { return isReadByRows(argument, dim); });
           if (isConversion(user)) return isReadByRows(user->getResult(0), dim);
           if (!isa<SliceOp, DynamicSliceOp>(user) || use.getOperandNumber() != 0) return false;
           return cast<RankedTensorType>(user->getResult(0).getType()).getDimSize(dim) == 1;
         });
}
