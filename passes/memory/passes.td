// From tensors to buffers with offsets.
#ifndef SGD_PASSES_MEMORY_PASSES_TD
#define SGD_PASSES_MEMORY_PASSES_TD

include "mlir/Pass/PassBase.td"

def LowerToPlanPass : Pass<"sgd-lower-to-plan", "::mlir::ModuleOp"> {
  let summary = "Bufferizes: clusters, matmuls and collectives become instructions of the plan";
  let description = [{
    Before: ordered ops on local shapes; fusion.cluster, fusion.matmul, collectives, views and constants. Any other op becomes a kernel of
    its own. After: functions over memrefs with one `plan.alloc` per value, kernels in `plan.kernel` symbols, equal ones once. Operands and
    results of collectives, and the arguments among them, are in window space. Results that are arguments, constants or one buffer twice
    are copies. In sgd-opt kernels have range 1 and no in-place candidates; the compiler passes its target's model of them.
  }];
  let dependentDialects = ["::mlir::plan::PlanDialect", "::mlir::spmd::SpmdDialect"];
}

def AssignStagingPass : Pass<"sgd-assign-staging", "::mlir::ModuleOp"> {
  let summary = "Gives collectives staging memory for data that is not contiguous";
  let description = [{
    For targets whose collectives move only contiguous bytes. Before: buffers are shared, none has an offset. After: a
    plan.collective whose parts are rows at a sender or a receiver has staging in the window, as much as the busiest rank
    packs (runtime/comm/staged_bytes.h), which lives as long as the collective is in flight.
  }];
  let dependentDialects = ["::mlir::plan::PlanDialect"];
}

def AssignWorkspacesPass : Pass<"sgd-assign-workspaces", "::mlir::ModuleOp"> {
  let summary = "Gives matmuls the workspaces that the target's library asks for";
  let description = [{
    Before: buffers are shared, none has an offset. After: every plan.matmul for which the library asks has a workspace of its own, which lives as
    long as the matmul runs, so that all of them, and buffers that are dead meanwhile, may share memory.
  }];
  let dependentDialects = ["::mlir::plan::PlanDialect"];
}

def ShareBuffersPass : Pass<"sgd-share-buffers", "::mlir::ModuleOp"> {
  let summary = "Updates in place: results of kernels and all_reduce overwrite operands that die, results of functions the arguments they alias";
  let description = [{
    A kernel's result is written to the buffer of an in-place candidate that nothing reads afterwards; it then calls another kernel. A result of the
    function that aliases an argument (`plan.alias` on the result) is written straight into the argument's buffer when nothing reads that
    afterwards, else copied there at the end.
  }];
  let dependentDialects = ["::mlir::plan::PlanDialect"];
}

def OverlapCollectivesPass : Pass<"sgd-overlap-collectives", "::mlir::ModuleOp"> {
  let summary = "Splits collectives into start and done, with compute in between";
  let description = [{
    Before: no offsets yet, collectives run to their end. After: a collective whose time is hidden, by the cost model, behind at least 20 us of
    compute has a token; it stands right after its last producer and its `plan.done` before the first instruction that needs it. Other
    instructions go before those that would have to wait. Buffers of a collective in flight stay alive, so memory may peak up to
    1/64 higher than without, and stays within the limit; where it would not, the given order remains, at last unsplit.
    A decision of the kind `overlap` on a collective says how much of it compute hides.
  }];
  let options = [Option<"topologyName", "topology", "std::string", "\"host\"", "a built-in topology (\"host\", \"a100\", \"h100\", \"b200\") or a file: the topology of the cost model">,
                 Option<"memoryLimit", "memory-limit", "uint64_t", "0", "Limit of a rank's bytes, constants included; 0: none">];
  let dependentDialects = ["::mlir::plan::PlanDialect"];
}

def GroupLaunchesPass : Pass<"sgd-group-launches", "::mlir::ModuleOp"> {
  let summary = "Horizontal fusion: groups consecutive independent launches into one instruction";
  let description = [{
    Before: buffers are shared, none has an offset. All buffers of a group are alive at once, so a launch joins the one before it
    only where no more bytes than at the function's peak are then alive.
  }];
  let dependentDialects = ["::mlir::plan::PlanDialect"];
}

def AssignOffsetsPass : Pass<"sgd-assign-offsets", "::mlir::ModuleOp"> {
  let summary = "Assigns every buffer an offset in private or window memory";
  let description = [{
    Arguments come first; those that functions share by name have the same offset in all of them. Buffers that do not live at the same
    time share memory; private values also take the window's idle parts while that lowers the peak. Memory of the host is planned
    likewise. Sizes of the spaces, the largest over the functions, are put on the module: `plan.private_bytes`, `plan.window_bytes`, and `plan.host_bytes` where there is any.

    Functions of different stages of a pipeline share nothing: each stage has spaces of its own, whose sizes are `plan.stage_bytes` on the
    module, [private, window] for each stage, and the host bytes of those that have any. The mailboxes of the channels that a stage receives from are behind all else in its window.
  }];
  let dependentDialects = ["::mlir::plan::PlanDialect"];
}

def VerifyChannelsPass : Pass<"sgd-verify-channels", "::mlir::ModuleOp"> {
  let summary = "Proves that the programs of a pipeline's stages fit together";
  let description = [{
    Plan level. Executes the sends, receives and loops of all stages of each program with the depths of their channels: every message is
    received, in order and in the size in which it was sent, all programs end, and nothing is left in a channel
    (runtime/comm/channel_proof.h). Readers of artifacts repeat it. Programs without stages are left alone.
  }];
  let dependentDialects = ["::mlir::plan::PlanDialect"];
}

#endif
