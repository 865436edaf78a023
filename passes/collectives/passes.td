// Passes on reductions and collectives, from the typed graph to the finished SPMD program.
#ifndef SGD_PASSES_COLLECTIVES_PASSES_TD
#define SGD_PASSES_COLLECTIVES_PASSES_TD

include "mlir/Pass/PassBase.td"

def ShardUpdatesPass : Pass<"sgd-shard-updates", "::mlir::ModuleOp"> {
  let summary = "Ranks update shards of what they all would update alike";
  let description = [{
    Before: values have shardings, reductions are where `sgd-shard` left them. An all-reduced gradient from which only results of the function are
    computed, elementwise, is reduce-scattered instead, each rank updates its shard, and results are gathered: an all-reduce is a reduce-scatter and an
    all-gather, so nothing more is sent (Xu et al., Automatic Cross-Replica Sharding of Weight Update in Data-Parallel Training, 2020). State that only
    the update reads, such as momentum, is an argument and a result in shards then; it is gathered when someone reads it between steps. A norm of the
    gradient becomes a sum over the shards' parts, reduced as a scalar.

    Left alone is what would send more, what no dimension of which divides evenly, and what saves less than 20 us by the cost model: an all-reduce
    works in place, its halves do not. After: `sgd.updates` on functions says what was decided about each update, and why.
  }];
  let options = [Option<"topologyName", "topology", "std::string", "\"host\"", "a built-in topology (\"host\", \"a100\", \"h100\", \"b200\") or a file: what costs are counted with">];
  let dependentDialects = ["::mlir::sgd::SgdDialect"];
  let statistics = [Statistic<"numSharded", "sharded", "Updates of which each rank computes a shard">];
}

def PlaceReductionsPass : Pass<"sgd-place-reductions", "::mlir::ModuleOp"> {
  let summary = "Decides where sums of partial values are taken, and between which shardings values travel";
  let description = [{
    Works on global shapes with shardings in types, before `sgd-localize`. Partial values are carried through linear ops where that saves
    bytes: a sum of two reductions becomes one reduction of the sum, a reduction moves past an op that shrinks the value. What a loop only
    accumulates is reduced once, after it; reshards of what it leaves as it is go before it, as long as their results take at most 256 MiB
    of a rank, and so do gathers of what it reads row by row, where the rows of all iterations send more. A block that is read, changed and
    written back stays with the rank that holds it. What a few elementwise ops compute from less (int8 weights that are converted and
    scaled) travels before them. Then all
    reshards of one value are decided together: straight from the source to each sharding that is used, or through one of them where that
    sends less (a reduce-scatter whose result is gathered again for one user, say). Equal reshards are shared.
  }];
  let options = [Option<"topologyName", "topology", "std::string", "\"host\"", "a built-in topology (\"host\", \"a100\", \"h100\", \"b200\") or a file: what costs are counted with">];
  let dependentDialects = ["::mlir::sgd::SgdDialect"];
  let statistics = [Statistic<"numMerged", "merged", "Pairs of reductions that became one">,
                    Statistic<"numMoved", "moved", "Reductions moved past a shrinking op">,
                    Statistic<"numLeft", "left-loops", "Reductions and other reshards that left a loop">,
                    Statistic<"numOwned", "owned", "Blocks that are read and written where they are">,
                    Statistic<"numRerouted", "rerouted", "Values whose reshards were changed">];
}

def SimplifyCollectivesPass : Pass<"spmd-simplify-collectives", "::mlir::func::FuncOp"> {
  let summary = "Merges equal collectives and folds neighbouring ones";
  let description = [{
    Equal collectives of one value become one, unused ones disappear; a slice of an all-reduce over the same group becomes a reduce-scatter
    when nothing else uses the sum; a sum of two all-reduces becomes the all-reduce of the sum.
  }];
  let dependentDialects = ["::mlir::spmd::SpmdDialect"];
}

def MergeRangesPass : Pass<"spmd-merge-ranges", "::mlir::func::FuncOp"> {
  let summary = "Overlapping ranges of one value are gathered once: the elements of a window share one halo";
  let description = [{
    Ranges of one operand that move on equally from rank to rank become slices of the range that holds them all, where that sends no more
    bytes than they do.
  }];
  let dependentDialects = ["::mlir::spmd::SpmdDialect", "::mlir::sgd::SgdDialect"];
  let statistics = [Statistic<"numMerged", "merged", "Ranges that joined another one">];
}

def CombineCollectivesPass : Pass<"spmd-combine-collectives", "::mlir::func::FuncOp"> {
  let summary = "Independent collectives of one kind and group travel together, in buckets sized by the cost model";
  let description = [{
    A collective waits for later ones of its kind, reduction and group until one of its results is needed or the bucket is full. Ops that
    can wait at no cost (their operands are waiting too, or their results are a few elements) do not need it yet, so that neither
    transposes of gradients nor chains of scalar sums force a bucket out. A bucket stands where its last member stood.
  }];
  let options = [Option<"topologyName", "topology", "std::string", "\"host\"", "a built-in topology (\"host\", \"a100\", \"h100\", \"b200\") or a file: what bucket sizes are derived from">,
                 Option<"bucketBytes", "bucket-bytes", "uint64_t", "0", "Largest bucket; 0 lets the cost model choose">];
  let dependentDialects = ["::mlir::spmd::SpmdDialect"];
  let statistics = [Statistic<"numCombined", "combined", "Collectives that joined an earlier one">];
}

def SettleControlFlowPass : Pass<"spmd-settle-control-flow", "::mlir::func::FuncOp"> {
  let summary = "Ranks decide alone about loops and branches that hold no collectives, and together about others";
  let description = [{
    Before: loops that are `sgd.by_rank` agree before each trip, by an `or` over all ranks; branches may be chosen by coordinate. After: where the
    body of such a loop has no collective, the agreement is dropped, and a rank makes as many trips as its own coordinates need; where it has
    some, the loop is an ordinary one, which all ranks leave together. A branch chosen for a rank's only coordinate is the one that runs, if none
    of the branches has a collective; otherwise all are computed, and each coordinate takes its own one's results.
  }];
  let dependentDialects = ["::mlir::spmd::SpmdDialect", "::mlir::sgd::SgdDialect", "::mlir::arith::ArithDialect"];
  let statistics = [Statistic<"numByRank", "by-rank", "Loops and branches that ranks decide about alone">,
                    Statistic<"numTogether", "together", "Loops and branches that all ranks run together">];
}

def ReplaceReductionsPass : Pass<"spmd-replace-reductions", "::mlir::func::FuncOp"> {
  let summary = "Reductions between ranks that the target's collectives have not are made of those that it has";
  let description = [{
    Integers of 16 bits travel as 32 bits, which wrap alike. And, or and xor are all-gathers (of a reduce-scatter: an all-to-all), after
    which every rank reduces what it has got; xor, which the sum of booleans is too, always.
  }];
  let options = [Option<"shortIntegers", "short-integers", "bool", "true", "Whether integers of 16 bits are combined as they are">,
                 Option<"bits", "bits", "bool", "true", "Whether integers are combined by and and or; booleans always are">];
  let dependentDialects = ["::mlir::spmd::SpmdDialect", "::mlir::sgd::SgdDialect", "::mlir::arith::ArithDialect"];
}

def VerifySpmdPass : Pass<"spmd-verify", "::mlir::ModuleOp"> {
  let summary = "Closes the SPMD stage: no type has a sharding, and all ranks issue the same collectives";
  let description = [{
    Fails when a type still has a sharding, a collective's axes are not parts of the mesh or overlap (then
    its groups would not partition the ranks), or a collective or its order could depend on the rank: collectives may stand only in a
    function's own block, or in loops and branches about which all ranks decide alike, which is proved from shardings, partition ids and
    collectives. What ranks decide about alone (`sgd.by_rank`), at any depth, holds none.
  }];
  let dependentDialects = ["::mlir::spmd::SpmdDialect"];
}

#endif
