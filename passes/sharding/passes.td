// Passes that give every value its sharding.
#ifndef SGD_PASSES_SHARDING_PASSES_TD
#define SGD_PASSES_SHARDING_PASSES_TD

include "mlir/Pass/PassBase.td"

def ShardPass : Pass<"sgd-shard", "::mlir::ModuleOp"> {
  let summary = "Propagates shardings and makes every change of sharding explicit";
  let description = [{
    Before: one mesh at most; shardings stand on arguments and results of functions (`sgd.sharding`) and on `sgd.sharding_constraint`;
    calls are inlined; nothing has been canonicalised since import.

    Propagation spreads axes through each op's sharding rule in both directions to a fixed point: first by the user's priorities, then
    by kind of op (what passes elements through, then everything else), and for each of these first without and then with conflicts.
    Where ops want a value differently, values that the user did not annotate then take the sharding with which the ops around them
    move the fewest bytes.

    After: every tensor has its sharding as the encoding of its type. Each op fits one assignment of axes to the factors of its rule,
    chosen by the bytes that would move; `sgd.reshard` stands wherever a value is needed in another sharding. An op that reduces over
    sharded dimensions has partial results, each followed by its reshard. Constants and iotas have one user each. Arguments and
    results carry their final shardings as attributes too.
  }];
  let options = [Option<"annotateResults", "annotate", "bool", "false",
    "Keep what propagation found for each op's results, before reshards were placed, as the attribute sgd.propagated">,
    Option<"resolve", "resolve", "bool", "true", "Change what propagation found where ops disagree about a value and fewer bytes move otherwise">];
  let statistics = [Statistic<"numResolved", "num-resolved", "groups of values that were sharded otherwise than propagated, for fewer bytes">];
  let dependentDialects = ["::mlir::sgd::SgdDialect"];
}

def FindBatchingPass : Pass<"sgd-find-batching", "::mlir::ModuleOp"> {
  let summary = "Indices that count along a batch become batching dimensions of gather and scatter";
  let description = [{
    `x[jnp.arange(n), labels]` indexes each row by its own number: that dimension of operand and indices is one batch, which can be sharded
    without anything being sent. Before propagation, which sees batching dimensions only where the op says so.
  }];
  let dependentDialects = ["::mlir::sgd::SgdDialect"];
}

def SplitTopKPass : Pass<"sgd-split-top-k", "::mlir::ModuleOp"> {
  let summary = "The largest elements of sharded rows are chosen from the largest of each shard";
  let description = [{
    A `sgd.top_k` whose operand is gathered along its rows, and for which k elements of every shard are at most half of them, takes those
    of each shard first; these travel, with their positions, and the largest of them are the result. Of equal elements the first one is
    chosen, as before.
  }];
  let dependentDialects = ["::mlir::sgd::SgdDialect"];
}

def VerifyShardingPass : Pass<"sgd-verify-sharding", "::mlir::ModuleOp"> {
  let summary = "Checks what sgd-shard promises";
  let description = [{
    Every tensor has a sharding; each op but sgd.reshard has one assignment of axes to the factors of its rule from which the shardings
    of all its operands and results follow, partial results included. What does not hold is an error on the op.
  }];
}

def PrintShardingRulesPass : Pass<"sgd-print-sharding-rules", "::mlir::ModuleOp"> {
  let summary = "Tells each op's sharding rule in a remark";
  let description = [{
    `([i, k], [k, j]) -> [i, j] i=8 j=16 k=32:add`: factors of each dimension, then sizes and kinds. `:whole` must be replicated,
    `:permutes` needs neighbours' elements, a reduction kind makes results partial.
  }];
}

#endif
