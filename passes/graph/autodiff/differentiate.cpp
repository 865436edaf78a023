// Visits ops from last to first, so that a value's gradient is complete when its op is reached.
#include "passes/graph/autodiff/differentiate.h"

#include "dialects/sgd/phase.h"
#include "passes/graph/autodiff/derivative_rule.h"

using namespace mlir;
using namespace mlir::sgd;

/// Returns the gradients of the results of `op`; empty if all are zero.
static SmallVector<Value> takeGradients(Operation* op, Pullback& pullback) {
  SmallVector<Value> gradients =
      llvm::map_to_vector(op->getResults(), [&](Value result) { return pullback.take(result); });
  if (llvm::none_of(gradients, [](Value gradient) { return gradient != nullptr; })) gradients.clear();
  return gradients;
}

LogicalResult mlir::sgd::sweep(Block& block, Pullback& pullback) {
  SmallVector<Operation*> ops;
  for (Operation& op : block) ops.push_back(&op);
  for (Operation* op : llvm::reverse(ops)) {
    SmallVector<Value> gradients = takeGradients(op, pullback);
    if (gradients.empty() || llvm::none_of(op->getOperands(), [&](Value operand) { return pullback.wants(operand); }))
      continue;
    auto rule = dyn_cast<DerivativeRuleOpInterface>(op);
    if (!rule)
      return op->emitError()
             << "'" << op->getName()
             << "' has no derivative, but the gradient goes through it; expected a differentiable op; use "
                "another one, or mark it with sgd.no_gradient to treat its result as a constant";
    pullback.setLoc(op->getLoc());
    if (failed(rule.pull(gradients, pullback))) return failure();
  }
  return success();
}

FailureOr<SmallVector<Value>> mlir::sgd::differentiate(OpBuilder& builder, Block& block, Value of, ValueRange by) {
  for (Operation& op : llvm::make_range(block.begin(), builder.getInsertionPoint()))
    op.walk([](Operation* inner) { inner->setLoc(markPhase(inner->getLoc(), Phase::Forward)); });
  ActiveValues active(block, by);
  Pullback pullback(builder, active);
  pullback.setLoc(of.getLoc());
  if (active.contains(of)) pullback.set(of, pullback.math.splat(tensorType(of), 1.0));
  if (failed(sweep(block, pullback))) return failure();
  return llvm::map_to_vector(by, [&](Value value) { return pullback.get(value); });
}
