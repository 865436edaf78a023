// The order of the plan's instructions: communication behind compute, launches in groups.
#ifndef SGD_PASSES_PLAN_OVERLAP_PASSES_TD
#define SGD_PASSES_PLAN_OVERLAP_PASSES_TD

include "mlir/Pass/PassBase.td"

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

#endif
