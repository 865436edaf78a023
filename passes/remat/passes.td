// Memory for time.
#ifndef SGD_PASSES_REMAT_PASSES_TD
#define SGD_PASSES_REMAT_PASSES_TD

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
                 Option<"exchanges", "exchanges", "bool", "false", "Take the two steps of collectives, whatever count says">,
                 Option<"free", "free", "bool", "false", "Take the steps that save time too, and no others">];
  let dependentDialects = ["::mlir::sgd::SgdDialect", "::mlir::arith::ArithDialect"];
}

def RecomputePass : Pass<"sgd-recompute", "::mlir::ModuleOp"> {
  let summary = "Runs instructions again before late readers, so that no more than a budget of bytes is alive";
  let description = [{
    Before and after: the plan level, every value in a buffer of its own. While more bytes than the budget are alive at some
    instruction, buffers that wait there for a later reader are made again before it: by the instruction that made them and, where operands are no longer there,
    by those before it; chosen are those that free most, over the time that memory is short, per second of the cost model. Kernels,
    library calls, copies and collectives may run twice, loops and branches do not. A gathered parameter is gathered again. An instruction whose
    results nobody reads before moves there instead. What a loop's body or a branch needs itself counts where it runs; what is still above the budget there is lowered inside of it.

    With `offload`, buffers may instead be copied to the host's memory and back, on the links of the topology, where that makes the device
    wait less: `activations` those that wait for a later reader, and results; `states` arguments that a step hands on to the next one in their own place,
    which then are in host memory between steps. Loops' bodies and branches have none of that.

    What runs again is the same instruction on the same values: results are equal bit by bit. Copies have a decision of the kind `recompute`. Functions that peak above the budget in spite
    of all that stay as low as the search got.
  }];
  let options = [Option<"budget", "budget", "uint64_t", "0", "Bytes alive at once in a function; arguments, but for states that may be offloaded, and constants not counted">,
                 Option<"offload", "offload", "std::string", "\"never\"", "what may be on the host: never, states, activations or all">,
                 Option<"topologyName", "topology", "std::string", "\"host\"", "a built-in topology (\"host\", \"a100\", \"h100\", \"b200\") or a file: the topology of the cost model">];
  let dependentDialects = ["::mlir::plan::PlanDialect"];
}

#endif
