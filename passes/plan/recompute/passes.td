// Memory for time: recomputation and offload within a budget of bytes.
#ifndef SGD_PASSES_PLAN_RECOMPUTE_PASSES_TD
#define SGD_PASSES_PLAN_RECOMPUTE_PASSES_TD

include "mlir/Pass/PassBase.td"

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
