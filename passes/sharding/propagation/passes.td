// Passes that give every value its sharding.
#ifndef SGD_PASSES_SHARDING_PROPAGATION_PASSES_TD
#define SGD_PASSES_SHARDING_PROPAGATION_PASSES_TD

include "mlir/Pass/PassBase.td"

def ShardPass : Pass<"sgd-shard", "::mlir::ModuleOp"> {
  let summary = "Propagates shardings and makes every change of sharding explicit";
  let description = [{
    Before: one mesh at most; shardings stand on arguments and results of functions (`sgd.sharding`) and on `sgd.sharding_constraint`;
    calls are inlined; nothing has been canonicalised since import.

    Propagation spreads axes through each op's sharding rule in both directions to a fixed point: first by the user's priorities, then
    by kind of op (ops that pass elements through, then all others), and for each of these first in basic and then in aggressive mode.
    Where ops disagree about the sharding of a value that the user did not annotate, the value then gets the sharding with which the ops
    around it move the fewest bytes.

    After: every tensor has its sharding as the encoding of its type. Each op fits one assignment of axes to the factors of its rule,
    chosen by the bytes that would move; `sgd.reshard` stands wherever a value is needed in another sharding. An op that reduces over
    sharded dimensions has partial results, each followed by its reshard. Constants and iotas have one user each. Arguments and
    results carry their final shardings as attributes too.
  }];
  let options = [Option<"annotateResults", "annotate", "bool", "false",
    "Annotate each op with the shardings that propagation found for its results, before reshards are placed (sgd.propagated)">,
    Option<"resolve", "resolve", "bool", "true", "Resolve conflicts between ops by the bytes that they move">];
  let statistics = [Statistic<"numResolved", "num-resolved", "Groups of values whose propagated sharding was changed to move fewer bytes">];
  let dependentDialects = ["::mlir::sgd::SgdDialect"];
}

def FindBatchingPass : Pass<"sgd-find-batching", "::mlir::ModuleOp"> {
  let summary = "Turns iota indices of gather and scatter into batching dimensions";
  let description = [{
    `x[jnp.arange(n), labels]` indexes each row by its own number: that dimension of operand and indices is one batch, which can be sharded
    without communication. Runs before propagation, which sees batching dimensions only where the op names them.
  }];
  let dependentDialects = ["::mlir::sgd::SgdDialect"];
}

def SplitTopKPass : Pass<"sgd-split-top-k", "::mlir::ModuleOp"> {
  let summary = "Computes top_k of sharded rows from the top k of each shard";
  let description = [{
    An `sgd.top_k` whose operand would be gathered along its rows becomes a top_k of each shard, an all-gather of these candidates and their
    positions, and a top_k of the candidates, if these are at most half of the elements. Of equal elements the first one is
    chosen, as before.
  }];
  let dependentDialects = ["::mlir::sgd::SgdDialect"];
}

def VerifyShardingPass : Pass<"sgd-verify-sharding", "::mlir::ModuleOp"> {
  let summary = "Verifies that every op fits its sharding rule after sgd-shard";
  let description = [{
    Every tensor has a sharding; each op but sgd.reshard has one assignment of axes to the factors of its rule from which the shardings
    of all its operands and results follow, partial results included. A violation is an error on the op.
  }];
}

def PrintShardingRulesPass : Pass<"sgd-print-sharding-rules", "::mlir::ModuleOp"> {
  let summary = "Prints each op's sharding rule as a remark";
  let description = [{
    `([i, k], [k, j]) -> [i, j] i=8 j=16 k=32:add`: factors of each dimension, then sizes and kinds. `:whole` must be replicated,
    `:permutes` needs neighbours' elements, a reduction kind makes results partial.
  }];
}

#endif
