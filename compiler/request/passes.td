// Passes on the request itself.
#ifndef SGD_COMPILER_REQUEST_PASSES_TD
#define SGD_COMPILER_REQUEST_PASSES_TD

include "mlir/Pass/PassBase.td"

def CloseLevelPass : Pass<"sgd-close-level", "::mlir::ModuleOp"> {
  let summary = "Notes in the request that all programs have reached a level";
  let description = [{
    Runs on the module of a compilation, behind `sgd-verify-level` on its programs. After: `sgd.request` names the level, and the uses of every value are in the order in which a parser
    makes them, so that a compilation goes on in the same way from the module and from its text.
  }];
  let options = [
    Option<"level", "level", "std::string", "\"\"", "graph, sharded, spmd, kernels or plan; empty: none yet, only uses are put in order">,
  ];
  let dependentDialects = ["::mlir::sgd::SgdDialect"];
}

#endif
