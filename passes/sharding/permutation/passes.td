// Passes on rows that are permuted and put back.
#ifndef SGD_PASSES_SHARDING_PERMUTATION_PASSES_TD
#define SGD_PASSES_SHARDING_PERMUTATION_PASSES_TD

include "mlir/Pass/PassBase.td"

def BlockSortsPass : Pass<"sgd-block-sorts", "::mlir::ModuleOp"> {
  let summary = "Sorts each shard's rows on their own where the program does not depend on the order of rows";
  let description = [{
    A mixture of experts sorts its tokens by expert, multiplies each group with its expert's weights, and puts the rows back. A sort along a sharded
    dimension gathers it, and all that follows is replicated.

    The pass handles sorts of vectors whose keys propagation shards. It proves that another permutation gives the same results: from the sort to
    where rows are put back, or summed over, every op treats each sorted row alike. Bounds of groups (a running sum of the counts of keys) become
    comparisons of the sorted keys. Then it replaces the sort by one of each block of rows, one block for each shard, and gathers and scatters
    between the two orders by batched ones, which read and write in one block. Sums over rows may add in another order.

    The proof goes on in loops that read sorted rows from stacks, an iteration's at a time, as the backward pass of a scan does; iotas and constants that loops only
    read are computed inside. Where shards do not divide the rows, blocks are rounded up, padded, and constrained to the axes: only for integers in ascending order.

    Before: global shapes; shardings stand on arguments, results and constraints. After: the same.
  }];
  let dependentDialects = ["::mlir::sgd::SgdDialect", "::mlir::arith::ArithDialect"];
  let statistics = [Statistic<"numBlocked", "blocked", "Sorts that were cut into blocks">];
}

#endif
