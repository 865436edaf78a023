// Loops that compute again what an earlier loop would stack for them.
#ifndef SGD_PASSES_TIME_RECOMPUTE_PASSES_TD
#define SGD_PASSES_TIME_RECOMPUTE_PASSES_TD

include "mlir/Pass/PassBase.td"

def RecomputeInLoopsPass : Pass<"sgd-recompute-in-loops", "::mlir::ModuleOp"> {
  let summary = "A loop computes again what an earlier loop stacked for it, iteration by iteration";
  let description = [{
    Before and after: the SPMD level. Where a loop of known trips writes a slice of a stack in each iteration, and all that reads the stack is a later loop, a slice in each
    iteration (a scan over layers and its backward pass), the later loop can compute the slice from what the earlier one read: parameters, slices of other stacks, and the state
    that an iteration began with, which is stacked instead if it is not already. A step drops one stack, or all that are left of two loops; the steps of a function are ordered by bytes
    freed per second of recomputation, and `count` says how many of them are taken. Whatever is left without readers goes with the next canonicalization. `sgd.decisions` of the function list them.

    When no stacks are left, two more steps: all-gathers that loops alone read run in each iteration, before their first reader; then reduce-scatters of what a loop adds up from zero do, and the
    loop adds up shards.

    Nothing that the later loop must not repeat runs twice: ops with effects, loops that differ between ranks.

    With `free`, a loop drops what a few instructions for each element compute from other stacks, which takes less time than writing and reading it: where JAX stacks `sigmoid(x)` and its
    derivative, the derivative goes.
  }];
  let options = [Option<"count", "count", "uint64_t", "1", "Steps to take in each function">,
                 Option<"topologyName", "topology", "std::string", "\"host\"", "a built-in topology (\"host\", \"a100\", \"h100\", \"b200\") or a file: the topology of the cost model">,
                 Option<"exchanges", "exchanges", "bool", "false", "Take the two steps of collectives, for any count">,
                 Option<"free", "free", "bool", "false", "Take the steps that save time too, and no others">];
  let dependentDialects = ["::mlir::sgd::SgdDialect", "::mlir::arith::ArithDialect"];
}

#endif
