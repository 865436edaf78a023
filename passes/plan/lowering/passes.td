// From tensors to instructions and buffers.
#ifndef SGD_PASSES_PLAN_LOWERING_PASSES_TD
#define SGD_PASSES_PLAN_LOWERING_PASSES_TD

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

#endif
