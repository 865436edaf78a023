// By MLIR's inliner.
#include "frontends/native/inline_calls.h"

#include "frontends/text/inlined_ops.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace mlir::sgd;

LogicalResult mlir::sgd::inlineCalls(ModuleOp module) {
  InlinedOps::Functions functions;
  for (auto function : module.getOps<func::FuncOp>()) functions[function.getSymNameAttr()] = function;
  InlinedOps inlinedOps(functions, getCalledFunction);
  bool hasCalls = false;
  for (auto [name, function] : functions) {
    if (failed(inlinedOps.check(function))) return failure();
    function.walk([&](func::CallOp) { hasCalls = true; });
  }
  if (!hasCalls) return success();
  PassManager passes(module.getContext());
  // Without a pipeline for callables, which would change what the author wrote.
  passes.addPass(createInlinerPass({}, [](OpPassManager&) {}));
  passes.addPass(createSymbolDCEPass());
  return passes.run(module);
}
