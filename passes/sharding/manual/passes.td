// Passes on manual computations.
#ifndef SGD_PASSES_SHARDING_MANUAL_PASSES_TD
#define SGD_PASSES_SHARDING_MANUAL_PASSES_TD

include "mlir/Pass/PassBase.td"

def ExpandManualPass : Pass<"sgd-expand-manual", "::mlir::ModuleOp"> {
  let summary = "Manual computations become part of the graph around them";
  let description = [{
    Runs first, on the mesh that the program was written for. What the ranks of a manual computation hold each for itself becomes one value
    with a leading dimension per manual axis over which it differs, sharded over that axis; ops take these dimensions along as batch
    dimensions, and collectives become ops on them: a sum over ranks is a sum over a dimension, an all-to-all a transpose. Partitioning finds
    the collectives again, or cheaper ones. So the program means the same on any mesh, one rank included, and shardings propagate
    through manual computations along the axes that are not manual.

    Loops carry leading dimensions where what they carry may differ between ranks in any iteration. A loop that ranks may leave at different times
    goes on while any of them does (`sgd.by_rank`), and keeps what belongs to the others; branches that ranks choose for themselves are
    chosen by coordinate. See decision 026.

    After: no `sgd.manual_computation`, `sgd.permute_ranks` or `spmd` op is left, and a module that had some has `sgd.was_manual`. An op that cannot take leading dimensions along is refused.
  }];
  let dependentDialects = ["::mlir::sgd::SgdDialect"];
}

#endif
