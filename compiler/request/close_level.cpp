// The pass sgd-close-level.
#include "compiler/request/passes.h"
#include "compiler/request/request.h"
#include "dialects/sgd/programs.h"

namespace mlir::sgd {
#define GEN_PASS_DEF_CLOSELEVELPASS
#include "compiler/request/passes.h.inc"
}  // namespace mlir::sgd

using namespace mlir;
using namespace mlir::sgd;

/// Enters each use anew, as the parser does: of ops inside of an op before its own. The last one entered is the first
/// in the list of a value's uses.
static void orderUses(ModuleOp compilation) {
  compilation.walk([](Operation* op) {
    for (OpOperand& operand : op->getOpOperands()) operand.set(operand.get());
  });
}

namespace {
struct CloseLevelPass : mlir::sgd::impl::CloseLevelPassBase<CloseLevelPass> {
  using CloseLevelPassBase::CloseLevelPassBase;

  void runOnOperation() override {
    orderUses(getOperation());
    if (level.empty()) return;
    FailureOr<Request> request = Request::read(getOperation());
    if (failed(request)) return signalPassFailure();
    llvm::Expected<EmitLevel> reached = parseEmitLevel(level);
    if (!reached) {
      getOperation().emitError() << llvm::toString(reached.takeError());
      return signalPassFailure();
    }
    request->level = *reached;
    getOperation()->setAttr(kRequestAttr, request->toAttr(&getContext()));
  }
};
}  // namespace
