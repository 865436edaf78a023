// Activity, and sums of gradients.
#include "passes/graph/autodiff/derivative_rule.h"

using namespace mlir;
using namespace mlir::sgd;

ActiveValues::ActiveValues(Block& block, ValueRange inputs) {
  values.insert_range(llvm::make_filter_range(inputs, [](Value input) { return hasGradients(input.getType()); }));
  for (Operation& op : block.without_terminator()) {
    if (op.hasAttr(kNoGradientAttr) || isFlat(op.getName().getStringRef())) continue;
    if (llvm::none_of(op.getOperands(), [&](Value operand) { return values.contains(operand); })) continue;
    for (Value result : op.getResults())
      if (hasGradients(result.getType())) values.insert(result);
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
