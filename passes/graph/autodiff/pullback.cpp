// Activity, and sums of gradients.
#include "passes/graph/autodiff/derivative_rule.h"

using namespace mlir;
using namespace mlir::sgd;

/// The arguments of `block` that `isVaried` has set.
static SmallVector<Value> getArguments(Block& block, const llvm::BitVector& isVaried) {
  return llvm::map_to_vector(isVaried.set_bits(),
                             [&](unsigned argument) -> Value { return block.getArgument(argument); });
}

llvm::BitVector mlir::sgd::findVariedIterArgs(WhileOp loop, llvm::BitVector isVaried) {
  Block& body = loop.getBody().front();
  for (bool changed = true; changed;) {
    changed = false;
    ActiveValues active(body, getArguments(body, isVaried));
    for (auto [iterArg, yielded] : llvm::enumerate(loop.getYielded()))
      if (!isVaried[iterArg] && active.contains(yielded)) isVaried[iterArg] = changed = true;
  }
  return isVaried;
}

/// By result of a branch: whether one of the branches computes it from an input that is varied.
static llvm::BitVector findVariedResults(CaseOp branches, const llvm::BitVector& isVaried) {
  llvm::BitVector results(branches.getNumResults());
  for (Region& branch : branches.getBranches()) {
    ActiveValues active(branch.front(), getArguments(branch.front(), isVaried));
    for (auto [result, yielded] : llvm::enumerate(branch.front().getTerminator()->getOperands()))
      if (active.contains(yielded)) results.set(result);
  }
  return results;
}

/// By result of an op with a varied operand.
static llvm::BitVector findVariedResults(Operation* op, const llvm::BitVector& isVaried) {
  if (auto loop = dyn_cast<WhileOp>(op)) return findVariedIterArgs(loop, isVaried);
  if (auto branches = dyn_cast<CaseOp>(op)) {
    llvm::BitVector inputs(branches.getInputs().size());
    for (unsigned input = 0; input < inputs.size(); ++input) inputs[input] = isVaried[input + 1];
    return findVariedResults(branches, inputs);
  }
  return llvm::BitVector(op->getNumResults(), true);
}

ActiveValues::ActiveValues(Block& block, ValueRange inputs) {
  values.insert_range(llvm::make_filter_range(inputs, [](Value input) { return hasGradients(input.getType()); }));
  for (Operation& op : block.without_terminator()) {
    if (op.hasAttr(kNoGradientAttr) || isFlat(op.getName().getStringRef())) continue;
    llvm::BitVector isVaried(op.getNumOperands());
    for (auto [position, operand] : llvm::enumerate(op.getOperands()))
      if (contains(operand)) isVaried.set(position);
    if (isVaried.none()) continue;
    llvm::BitVector results = findVariedResults(&op, isVaried);
    for (Value result : op.getResults())
      if (results[cast<OpResult>(result).getResultNumber()] && hasGradients(result.getType())) values.insert(result);
  }
}

Value Pullback::take(Value value) {
  auto found = gradients.find(value);
  if (found == gradients.end()) return {};
  Value gradient = found->second;
  gradients.erase(found);
  return gradient;
}

void Pullback::add(Value value, Value gradient) {
  if (!gradient || !wants(value)) return;
  Value& sum = gradients[value];
  sum = sum ? math.add(sum, gradient) : gradient;
}

void Pullback::addPart(Value value, llvm::function_ref<Value(Value)> accumulate) {
  if (!wants(value)) return;
  Value sum = gradients.lookup(value);
  gradients[value] = accumulate(sum ? sum : getZeros(value));
}
