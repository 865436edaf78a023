// Passes that make reductions send less than what they reduce.
#ifndef SGD_PASSES_SPMD_COMPRESS_PASSES_TD
#define SGD_PASSES_SPMD_COMPRESS_PASSES_TD

include "mlir/Pass/PassBase.td"

def CompressReductionsPass : Pass<"sgd-compress-reductions", "::mlir::ModuleOp"> {
  let summary = "Compresses the reductions of gradients over the axes that the user names";
  let description = [{
    Before: reductions are placed (`sgd-place-reductions`), and the module says in `sgd.compress` how to compress over which axes. A reshard that adds
    up gradients over these axes becomes an `sgd.compressed_reduction`, one for as many as fill a bucket where state is kept; what depends on them moves behind all
    other ops for that. The error, what ranks have not sent yet, is state of the program: an argument and a result
    that is its next value, named after the state that the gradient updates.

    A gradient is a partial sum on which the loss does not
    depend, from which state that steps carry is computed element by element, and no other sum over ranks. In loops and branches those kinds do that keep no state. After: `sgd.decisions` of functions hold what was decided about each reduction
    over these axes, and why.
  }];
  let options = [Option<"topologyName", "topology", "std::string", "\"host\"", "a built-in topology (\"host\", \"a100\", \"h100\", \"b200\") or a file: the topology of the planner's cost model">,
                 Option<"bucketBytes", "bucket-bytes", "uint64_t", "0", "Most bytes that are exchanged together; 0 lets the cost model choose">];
  let dependentDialects = ["::mlir::sgd::SgdDialect"];
  let statistics = [Statistic<"numCompressed", "compressed", "Reductions that are compressed">];
}

#endif
