// Backward from the loss, and forward from reductions through ops on elements.
#include "passes/compress/gradients.h"

#include "dialects/sgd/tensor_type.h"
#include "passes/carry/carry_attrs.h"

using namespace mlir;
using namespace mlir::sgd;

static std::optional<unsigned> findLoss(func::FuncOp function) {
  for (auto [index, type] : llvm::enumerate(function.getResultTypes())) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (tensor && tensor.getRank() == 0 && isa<FloatType>(tensor.getElementType()) &&
        !getCarriedArgument(function, index))
      return index;
  }
  return std::nullopt;
}

Gradients::Gradients(func::FuncOp function) : function(function) {
  std::optional<unsigned> loss = findLoss(function);
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
  return op->hasTrait<OpTrait::Elementwise>() || op->hasTrait<MovesElements>();
}

std::optional<unsigned> Gradients::findState(Value value) {
  std::optional<unsigned> found;
  llvm::DenseSet<Value> seen = {value};
  SmallVector<Value> pending = {value};
  while (!pending.empty()) {
    Value next = pending.pop_back_val();
    for (OpOperand& use : next.getUses()) {
      Operation* user = use.getOwner();
      if (isa<func::ReturnOp>(user)) {
        std::optional<unsigned> argument = getCarriedArgument(function, use.getOperandNumber());
        auto rank = [&](unsigned a) { return std::pair(!lossArguments.contains(function.getArgument(a)), a); };
        if (argument && (!found || rank(*argument) < rank(*found))) found = argument;
      } else if (isOnElements(user, next) && seen.insert(user->getResult(0)).second) {
        pending.push_back(user->getResult(0));
      }
    }
  }
  return found;
}
