// Passes that turn a program on global shapes into the program of one rank.
#ifndef SGD_PASSES_SPMD_PARTITION_PASSES_TD
#define SGD_PASSES_SPMD_PARTITION_PASSES_TD

include "mlir/Pass/PassBase.td"

def LocalizePass : Pass<"sgd-localize", "::mlir::ModuleOp"> {
  let summary = "Lowers shardings to local shapes and reshards to collectives";
  let description = [{
    Before: every tensor's type has a closed sharding, and each op except `sgd.reshard` fits one assignment of axes to the factors of its
    sharding rule. After: types are those of one shard, no sharding is left in types, every reshard is the sequence of `spmd` ops that
    the reshard planner found cheapest (with the reason in `sgd.decisions`), iota and constants depend on `spmd.partition_id` where they are
    sharded. Arguments and results keep `sgd.sharding` and `sgd.global_type` as attributes.
    An op that cannot be computed shard by shard is refused with its operand, dimension and axes.
  }];
  let options = [Option<"topologyName", "topology", "std::string", "\"host\"", "a built-in topology (\"host\", \"a100\", \"h100\", \"b200\") or a file: the topology of the planner's cost model">];
  let dependentDialects = ["::mlir::spmd::SpmdDialect"];
  let statistics = [Statistic<"numReshards", "reshards", "Reshards turned into SPMD ops">];
}

#endif
