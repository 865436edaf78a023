// Passes on reductions and collectives, from the typed graph to the finished SPMD program.
#ifndef SGD_PASSES_SPMD_COLLECTIVES_PASSES_TD
#define SGD_PASSES_SPMD_COLLECTIVES_PASSES_TD

include "mlir/Pass/PassBase.td"

def ShardUpdatesPass : Pass<"sgd-shard-updates", "::mlir::ModuleOp"> {
  let summary = "Shards the update of replicated state over the ranks";
  let description = [{
    Before: values have shardings, reductions are where `sgd-shard` left them. An all-reduced gradient from which only results of the function are
    computed, elementwise, is reduce-scattered instead, each rank updates its shard, and results are gathered: an all-reduce is a reduce-scatter and an
    all-gather, so it sends no more bytes (Xu et al., Automatic Cross-Replica Sharding of Weight Update in Data-Parallel Training, 2020). State that only
    the update reads, such as momentum, becomes a sharded argument and result; the runtime gathers it for checkpoints and outputs. A norm of the
    gradient becomes a sum of the shards' norms, reduced as a scalar.

    Does not shard an update that would send more, of which no dimension divides evenly, or which saves less than 20 us by the cost model: an all-reduce
    works in place, its halves do not. After: `sgd.decisions` of functions hold the decision about each update, and its reason.
  }];
  let options = [Option<"topologyName", "topology", "std::string", "\"host\"", "a built-in topology (\"host\", \"a100\", \"h100\", \"b200\") or a file: the topology of the cost model">];
  let dependentDialects = ["::mlir::sgd::SgdDialect"];
  let statistics = [Statistic<"numSharded", "sharded", "Updates that were sharded">];
}

def PlaceReductionsPass : Pass<"sgd-place-reductions", "::mlir::ModuleOp"> {
  let summary = "Decides where partial values are reduced, and plans the reshards of each value";
  let description = [{
    Works on global shapes with shardings in types, before `sgd-localize`. Moves reductions past linear ops where that saves
    bytes: a sum of two reductions becomes one reduction of the sum, reductions that are concatenated and then sharded become one reduction straight to the shards, and a reduction moves past an op that shrinks the value. Reduces an accumulator of a
    loop once, after the loop; several accumulators may read one reduction. Hoists reshards of loop-invariant values, as long as their results take at most 256 MiB
    of a rank, and gathers of values that the loop reads row by row, where the rows of all iterations send more. Keeps a block that is read, changed and
    written back on the rank that holds it. Moves reshards before a few elementwise ops that widen their operand (int8 weights that are converted and
    scaled), or whose operand is resharded so for another op already. Then plans all
    reshards of one value together: straight from the source to each sharding that is used, or through one of them where that
    sends less (for instance a reduce-scatter whose result is gathered again for one user). Shares equal reshards.
  }];
  let options = [Option<"topologyName", "topology", "std::string", "\"host\"", "a built-in topology (\"host\", \"a100\", \"h100\", \"b200\") or a file: the topology of the cost model">];
  let dependentDialects = ["::mlir::sgd::SgdDialect"];
  let statistics = [Statistic<"numMerged", "merged", "Pairs of reductions that were merged into one">,
                    Statistic<"numMoved", "moved", "Reductions moved past a shrinking op">,
                    Statistic<"numLeft", "left-loops", "Reductions and other reshards moved out of a loop">,
                    Statistic<"numOwned", "owned", "Blocks that are read and written on the rank that holds them">,
                    Statistic<"numRerouted", "rerouted", "Values whose reshards were changed">];
}

def SimplifyCollectivesPass : Pass<"spmd-simplify-collectives", "::mlir::func::FuncOp"> {
  let summary = "Merges equal collectives and folds neighbouring ones";
  let description = [{
    Merges equal collectives of one value and removes unused ones. A slice of an all-reduce over the same group becomes a reduce-scatter
    when nothing else uses the all-reduce; a sum of two all-reduces becomes the all-reduce of the sum.
  }];
  let dependentDialects = ["::mlir::spmd::SpmdDialect"];
}

def MergeRangesPass : Pass<"spmd-merge-ranges", "::mlir::func::FuncOp"> {
  let summary = "Merges overlapping gathered ranges of one value, so that the elements of a window share one halo";
  let description = [{
    Ranges of one operand with the same scale (their step from rank to rank) become slices of one range that covers them all, where that sends no more
    bytes than they do.
  }];
  let dependentDialects = ["::mlir::spmd::SpmdDialect", "::mlir::sgd::SgdDialect"];
  let statistics = [Statistic<"numMerged", "merged", "Ranges that joined another one">];
}

def CombineCollectivesPass : Pass<"spmd-combine-collectives", "::mlir::func::FuncOp"> {
  let summary = "Combines independent collectives of one kind and group into buckets sized by the cost model";
  let description = [{
    A collective waits for later ones of its kind, reduction and group until one of its results is needed or the bucket is full. Ops that
    can wait at no cost (their operands are waiting too, or their results are a few elements) do not need it yet, so that neither
    transposes of gradients nor chains of scalar additions close a bucket. A bucket replaces its last member.
  }];
  let options = [Option<"topologyName", "topology", "std::string", "\"host\"", "a built-in topology (\"host\", \"a100\", \"h100\", \"b200\") or a file: the topology that bucket sizes are derived from">,
                 Option<"bucketBytes", "bucket-bytes", "uint64_t", "0", "Largest bucket; 0 lets the cost model choose">];
  let dependentDialects = ["::mlir::spmd::SpmdDialect"];
  let statistics = [Statistic<"numCombined", "combined", "Collectives that joined an earlier one">];
}

def SettleControlFlowPass : Pass<"spmd-settle-control-flow", "::mlir::func::FuncOp"> {
  let summary = "Lets each rank decide about loops and branches without collectives by itself";
  let description = [{
    Before: loops that are `sgd.by_rank` agree before each trip, by an `or` over all ranks; branches may be chosen by coordinate. After: where the
    body of such a loop has no collective, the agreement is dropped, and a rank makes as many trips as its own coordinates need; where it has
    some, the loop is an ordinary one, which all ranks leave together. A case chosen for a rank's only coordinate runs that branch, if none
    of the branches has a collective; otherwise it computes all branches and selects each coordinate's results.
  }];
  let dependentDialects = ["::mlir::spmd::SpmdDialect", "::mlir::sgd::SgdDialect", "::mlir::arith::ArithDialect"];
  let statistics = [Statistic<"numByRank", "by-rank", "Loops and branches that ranks decide about alone">,
                    Statistic<"numTogether", "together", "Loops and branches that all ranks run together">];
}

def ReplaceReductionsPass : Pass<"spmd-replace-reductions", "::mlir::func::FuncOp"> {
  let summary = "Replaces reductions that the target's collectives do not support by those that they do";
  let description = [{
    Integers of 16 bits are sent as 32 bits, which wrap around alike. And, or and xor become an all-gather (of a reduce-scatter: an all-to-all), after
    which every rank reduces by itself; xor, which a sum of booleans is too, always does.
  }];
  let options = [Option<"shortIntegers", "short-integers", "bool", "true", "Whether integers of 16 bits are combined as they are">,
                 Option<"bits", "bits", "bool", "true", "Whether integers are combined by and and or; booleans always are">];
  let dependentDialects = ["::mlir::spmd::SpmdDialect", "::mlir::sgd::SgdDialect", "::mlir::arith::ArithDialect"];
}

def VerifySpmdPass : Pass<"spmd-verify", "::mlir::ModuleOp"> {
  let summary = "Verifies the SPMD level: no shardings in types, and all ranks issue the same collectives";
  let description = [{
    Fails when a type still has a sharding, a collective's axes are not parts of the mesh or overlap (then
    its groups would not partition the ranks), or a collective or its order could depend on the rank: collectives may stand only in a
    function's own block, or in loops and branches whose predicate is the same on all ranks, which is proved from shardings, partition ids and
    collectives. Loops and branches that ranks decide alone (`sgd.by_rank`) must hold none, at any depth.
  }];
  let dependentDialects = ["::mlir::spmd::SpmdDialect"];
}

def ReportScalarsPass : Pass<"sgd-report-scalars", "::mlir::ModuleOp"> {
  let summary = "Sends scalar results of all stages of a pipeline to the first one, whose first rank writes the log";
  let description = [{
    SPMD level. Before: each stage returns what it computes. After: every scalar result that is no state is a result of stage 0 too, which
    receives it at its end, when all other messages have been sent and received. Programs without stages are left alone.
  }];
  let dependentDialects = ["::mlir::spmd::SpmdDialect"];
}

#endif
