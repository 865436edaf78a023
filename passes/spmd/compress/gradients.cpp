// Backward from the loss, and forward from reductions through ops on elements, loops and branches.
#include "passes/spmd/compress/gradients.h"

#include "dialects/sgd/roles.h"
#include "dialects/sgd/tensor_type.h"
#include "passes/graph/carry/carry_attrs.h"

using namespace mlir;
using namespace mlir::sgd;

bool mlir::sgd::isReduction(ReshardOp reshard) {
  ShardingAttr from = getSharding(reshard.getInput().getType()), to = getSharding(reshard.getType());
  return from.isPartial() && from.getUnreducedKind() == ReduceKind::Add && !to.isPartial() &&
         tensorType(reshard).getRank() > 0 && isa<FloatType>(tensorType(reshard).getElementType());
}

Gradients::Gradients(func::FuncOp function) : function(function) {
  std::optional<unsigned> loss = findResult(function, Role::Loss);
  if (!loss) return;
  SmallVector<Value> pending = {function.front().getTerminator()->getOperand(*loss)};
  while (!pending.empty()) {
    Value value = pending.pop_back_val();
    Operation* op = value.getDefiningOp();
    if (!op)
      lossArguments.insert(value);
    else if (lossOps.insert(op).second)
      llvm::append_range(pending, op->getOperands());
  }
}

/// Whether each element of the only result is computed from at most a few elements of `operand`, those of one gradient.
static bool isOnElements(Operation* op, Value operand) {
  if (op->getNumResults() != 1 || op->getNumRegions() != 0) return false;
  if (isa<BroadcastInDimOp, ReduceOp>(op))  // of dimensions of one element
    return tensorType(op->getResult(0)).getNumElements() == tensorType(operand).getNumElements();
  // The parts of a stack of layers are put into it one by one.
  return op->hasTrait<OpTrait::Elementwise>() || op->hasTrait<MovesElements>() || isa<DynamicUpdateSliceOp>(op);
}

/// Values computed from the used value by its user: for a loop or branch, the block arguments and results.
static SmallVector<Value> getNext(OpOperand& use) {
  Operation* user = use.getOwner();
  auto flow = dyn_cast<DataFlowOpInterface>(user->hasTrait<OpTrait::IsTerminator>() ? user->getParentOp() : user);
  if (std::optional<unsigned> edge = flow ? flow.getDataFlowEdgeFrom(use) : std::nullopt)
    return SmallVector<Value>(flow.getDataFlowEdge(*edge).targets);
  return SmallVector<Value>(user->getResults());
}

/// The same, element by element.
static SmallVector<Value> getNextOnElements(OpOperand& use) {
  bool keeps = isa<DataFlowOpInterface>(use.getOwner()) || use.getOwner()->hasTrait<OpTrait::IsTerminator>();
  return keeps || isOnElements(use.getOwner(), use.get()) ? getNext(use) : SmallVector<Value>();
}

std::optional<unsigned> Gradients::findState(Value value) {
  std::optional<unsigned> found;
  llvm::DenseSet<Value> seen = {value};
  SmallVector<Value> pending = {value};
  while (!pending.empty())
    for (OpOperand& use : pending.pop_back_val().getUses()) {
      if (!isa<func::ReturnOp>(use.getOwner())) {
        for (Value next : getNextOnElements(use))
          if (seen.insert(next).second) pending.push_back(next);
        continue;
      }
      std::optional<unsigned> argument = getCarriedArgument(function, use.getOperandNumber());
      auto rank = [&](unsigned a) { return std::pair(!lossArguments.contains(function.getArgument(a)), a); };
      if (argument && (!found || rank(*argument) < rank(*found))) found = argument;
    }
  return found;
}

bool Gradients::reachesReduction(Value value) {
  llvm::DenseSet<Value> seen = {value};
  SmallVector<Value> pending = {value};
  while (!pending.empty())
    for (OpOperand& use : pending.pop_back_val().getUses()) {
      if (auto reshard = dyn_cast<ReshardOp>(use.getOwner()); reshard && isReduction(reshard)) return true;
      for (Value next : getNext(use))
        if (seen.insert(next).second) pending.push_back(next);
    }
  return false;
}

bool Gradients::reachesLoss(Operation* op) { return lossOps.contains(function.front().findAncestorOpInBlock(*op)); }
