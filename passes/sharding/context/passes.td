// Passes that shard attention by position (context parallelism).
#ifndef SGD_PASSES_SHARDING_CONTEXT_PASSES_TD
#define SGD_PASSES_SHARDING_CONTEXT_PASSES_TD

include "mlir/Pass/PassBase.td"

def ShardAttentionPass : Pass<"sgd-shard-attention", "::mlir::ModuleOp"> {
  let summary = "Computes attention over a sharded sequence in a ring, or with heads exchanged for positions";
  let description = [{
    Before: global shapes; shardings stand on arguments, results and constraints alone. A look ahead at propagation says which attention (a softmax
    between matmuls, with its gradients) would have its scores sharded by position, over some axes. It is then rewritten, by cost, into one of

    * a ring: queries stay where they are, blocks of keys and values go from rank to rank, with their gradients, and each rank
      accumulates a softmax over the blocks that it has seen (Liu et al., Ring Attention with Blockwise Transformers, 2023);
    * a striped ring: the same after each rank has got every nth position, so that a causal mask hides as much on all ranks (Brandon et
      al., Striped Attention, 2023);
    * all-to-all: heads are sharded instead of positions while attention is computed (Jacobs et al., DeepSpeed-Ulysses, 2023),
      where the axes divide the number of heads, or batch entries;
    * what it is: keys and values, or queries, are gathered.

    After: the same computation on global shapes, in which the blocks of a ring are a dimension with one index per rank, shifted along by slices; sharding
    constraints say the rest. `sgd.decisions` of functions hold each decision and its reason.
  }];
  let options = [Option<"form", "form", "std::string", "\"\"", "`ring`, `striped_ring`, `all_to_all` or `gathered` for all attention that can be so; empty: by cost">,
                 Option<"topologyName", "topology", "std::string", "\"host\"", "a built-in topology (\"host\", \"a100\", \"h100\", \"b200\") or a file: the topology of the cost model">];
  let dependentDialects = ["::mlir::sgd::SgdDialect", "::mlir::arith::ArithDialect", "::mlir::math::MathDialect"];
  let statistics = [Statistic<"numRings", "rings", "Attention computed in a ring">,
                    Statistic<"numExchanged", "exchanged", "Attention with heads exchanged for positions">];
}

#endif
