// The pass sgd-differentiate.
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/graph/autodiff/derivative_rule.h"
#include "passes/graph/autodiff/differentiate.h"
#include "passes/graph/autodiff/passes.h"

namespace mlir::sgd {
#define GEN_PASS_DEF_DIFFERENTIATEPASS
#include "passes/graph/autodiff/passes.h.inc"
}  // namespace mlir::sgd

using namespace mlir;
using namespace mlir::sgd;

namespace {

struct DifferentiatePass : mlir::sgd::impl::DifferentiatePassBase<DifferentiatePass> {
  using DifferentiatePassBase::DifferentiatePassBase;

  void getDependentDialects(DialectRegistry& registry) const final {
    DifferentiatePassBase::getDependentDialects(registry);
    registerDerivativeRules(registry);
  }

  void runOnOperation() final {
    func::FuncOp function = getOperation();
    if (function.isExternal()) return;
    Block& block = function.getBody().front();
    Operation* end = block.getTerminator();
    FailureOr<SmallVector<Value>> by = getArguments(block);
    if (failed(by) || failed(checkResult(end))) return signalPassFailure();
    Value of = end->getOperand(result);
    OpBuilder builder(end);
    FailureOr<SmallVector<Value>> gradients = differentiate(builder, block, of, *by);
    if (failed(gradients)) return signalPassFailure();
    TensorMath math(builder, function.getLoc());
    for (auto [argument, gradient] : llvm::zip(*by, *gradients))
      if (!gradient) gradient = math.splat(tensorType(argument), 0.0);
    numGradients += gradients->size();
    unsigned old = end->getNumOperands();
    end->insertOperands(old, *gradients);
    SmallVector<DictionaryAttr> attributes(gradients->size(), DictionaryAttr::get(&getContext()));
    if (failed(function.insertResults(SmallVector<unsigned>(gradients->size(), old), ValueRange(*gradients).getTypes(),
                                      attributes)))
      signalPassFailure();
  }

  LogicalResult checkResult(Operation* end) {
    if (result >= end->getNumOperands())
      return fail() << "has " << end->getNumOperands() << " results, and result " << result.getValue()
                    << " is to be differentiated; expected one that there is; name another one";
    Type type = end->getOperand(result).getType();
    if (hasGradients(type) && cast<RankedTensorType>(type).getRank() == 0) return success();
    return fail()
           << "has " << type << " as result " << result.getValue()
           << ", and a gradient is that of one number; expected a scalar of floats; sum it up or name another one";
  }

  FailureOr<SmallVector<Value>> getArguments(Block& block) {
    SmallVector<Value> chosen;
    if (arguments.empty())
      for (Value argument : block.getArguments())
        if (hasGradients(argument.getType())) chosen.push_back(argument);
    for (unsigned position : arguments) {
      if (position >= block.getNumArguments() || !hasGradients(block.getArgument(position).getType())) {
        fail() << "has no argument " << position
               << " of floats, and a gradient by it is asked for; expected one that there "
                  "is; name another one";
        return failure();
      }
      chosen.push_back(block.getArgument(position));
    }
    return chosen;
  }

  InFlightDiagnostic fail() { return getOperation().emitError() << "@" << getOperation().getName() << " "; }
};

}  // namespace
