// The pass sgd-keep-uncommitted.
#include "dialects/sgd/commit.h"
#include "dialects/sgd/stages.h"
#include "passes/carry/carry_attrs.h"
#include "passes/carry/passes.h"
#include "runtime/artifact/tensor_path.h"

namespace mlir::sgd {
#define GEN_PASS_DEF_KEEPUNCOMMITTEDPASS
#include "passes/carry/passes.h.inc"
}  // namespace mlir::sgd

using namespace mlir;
using namespace mlir::sgd;

/// "result['metrics']['commit']", "commit".
static bool isCalledCommit(func::FuncOp function, unsigned result) {
  auto name = function.getResultAttrOfType<StringAttr>(result, kNameAttr);
  if (!name || !isCommitType(function.getResultTypes()[result]) || getCarriedArgument(function, result)) return false;
  ::sgd::artifact::TensorPath path = ::sgd::artifact::ResultPath(std::string_view(name.getValue()));
  return !path.empty() && !path.back().is_index && path.back().text == "commit";
}

/// The result that decides; nothing without one, failure if two could.
static FailureOr<std::optional<unsigned>> findCommit(func::FuncOp function) {
  std::optional<unsigned> found = getCommit(function);
  if (found && getCarriedArgument(function, *found))
    return function.emitError() << "result " << *found << " decides about the commit, and is carried to argument "
                                << *getCarriedArgument(function, *found)
                                << " of the next step; expected a result that is not; return the decision as a result "
                                   "of its own";
  if (found) return found;
  for (unsigned result : llvm::seq(function.getNumResults())) {
    if (!isCalledCommit(function, result)) continue;
    if (found)
      return function.emitError() << "results " << *found << " and " << result
                                  << " are called 'commit', and either could decide whether a step is committed; "
                                     "expected one; rename the other";
    found = result;
  }
  return found;
}

namespace {
struct KeepUncommittedPass : mlir::sgd::impl::KeepUncommittedPassBase<KeepUncommittedPass> {
  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (function.isExternal() || function.isPrivate()) return;
    FailureOr<std::optional<unsigned>> commit = findCommit(function);
    if (failed(commit)) return signalPassFailure();
    if (!*commit) return;
    if (getStage(function)) {
      function.emitError() << "result " << **commit
                           << " decides about the commit, but the program is written by stages, and others have state "
                              "too; expected a whole program; let each stage select between new and old state";
      return signalPassFailure();
    }
    function.setResultAttr(**commit, kCommitAttr, UnitAttr::get(&getContext()));
    Operation* terminator = function.front().getTerminator();
    OpBuilder builder(terminator);
    Value decision = terminator->getOperand(**commit);
    for (OpOperand& result : terminator->getOpOperands()) {
      std::optional<unsigned> argument = getCarriedArgument(function, result.getOperandNumber());
      if (!argument || result.get() == function.getArgument(*argument)) continue;
      result.set(
          selectCommitted(builder, result.get().getLoc(), decision, result.get(), function.getArgument(*argument)));
    }
  }
};
}  // namespace
