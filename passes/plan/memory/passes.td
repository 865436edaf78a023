// From buffers to offsets.
#ifndef SGD_PASSES_PLAN_MEMORY_PASSES_TD
#define SGD_PASSES_PLAN_MEMORY_PASSES_TD

include "mlir/Pass/PassBase.td"

def ShareBuffersPass : Pass<"sgd-share-buffers", "::mlir::ModuleOp"> {
  let summary = "Updates in place: results of kernels and all_reduce overwrite operands that die, results of functions the arguments they alias";
  let description = [{
    A kernel's result is written to the buffer of an in-place candidate that nothing reads afterwards; it then calls another kernel. A result of the
    function that aliases an argument (`plan.alias` on the result) is written straight into the argument's buffer when nothing reads that
    afterwards, else copied there at the end.
  }];
  let dependentDialects = ["::mlir::plan::PlanDialect"];
}

def AssignStagingPass : Pass<"sgd-assign-staging", "::mlir::ModuleOp"> {
  let summary = "Gives collectives staging memory for data that is not contiguous";
  let description = [{
    For targets whose collectives move only contiguous bytes. Before: buffers are shared, none has an offset. After: a
    plan.collective whose parts are rows at a sender or a receiver has staging in the window, as much as the busiest rank
    packs (runtime/comm/collectives/staged_bytes.h), which lives as long as the collective is in flight.
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

#endif
