// The order of a graph's ops.
#ifndef SGD_PASSES_GRAPH_NORMALIZE_PASSES_TD
#define SGD_PASSES_GRAPH_NORMALIZE_PASSES_TD

include "mlir/Pass/PassBase.td"

def NormalizeOrderPass : Pass<"sgd-normalize-order", "::mlir::func::FuncOp"> {
  let summary = "Sorts ops into a canonical order that does not depend on the order in the source";
  let description = [{
    Before: one block, no ops moved yet. After: ops are sorted by the longest chain of operands before them, then by when a walk from the
    results, operands first, meets them. Two programs that differ only in names and in the order of independent ops become the same.
    Functions with ops that have effects stay as they are.
  }];
}

#endif
