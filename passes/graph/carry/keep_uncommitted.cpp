// The pass sgd-keep-uncommitted.
#include "dialects/sgd/commit.h"
#include "dialects/sgd/roles.h"
#include "dialects/sgd/stages.h"
#include "passes/graph/carry/carry_attrs.h"
#include "passes/graph/carry/passes.h"

namespace mlir::sgd {
#define GEN_PASS_DEF_KEEPUNCOMMITTEDPASS
#include "passes/graph/carry/passes.h.inc"
}  // namespace mlir::sgd

using namespace mlir;
using namespace mlir::sgd;

namespace {
struct KeepUncommittedPass : mlir::sgd::impl::KeepUncommittedPassBase<KeepUncommittedPass> {
  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (function.isExternal() || function.isPrivate()) return;
    std::optional<unsigned> commit = findResult(function, Role::Commit);
    if (!commit) return;
    if (getStage(function)) {
      function.emitError() << "result " << *commit
                           << " decides about the commit, but the program is written by stages, and others have state "
                              "too; expected a whole program; let each stage select between new and old state";
      return signalPassFailure();
    }
    Operation* terminator = function.front().getTerminator();
    OpBuilder builder(terminator);
    Value decision = terminator->getOperand(*commit);
    for (OpOperand& result : terminator->getOpOperands()) {
      std::optional<unsigned> argument = getCarriedArgument(function, result.getOperandNumber());
      if (!argument || result.get() == function.getArgument(*argument)) continue;
      result.set(
          selectCommitted(builder, result.get().getLoc(), decision, result.get(), function.getArgument(*argument)));
    }
  }
};
}  // namespace
