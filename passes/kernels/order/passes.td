// The order of instructions.
#ifndef SGD_PASSES_KERNELS_ORDER_PASSES_TD
#define SGD_PASSES_KERNELS_ORDER_PASSES_TD

include "mlir/Pass/PassBase.td"

def OrderPass : Pass<"sgd-order", "::mlir::func::FuncOp"> {
  let summary = "Schedules ops to lower the peak of live bytes";
  let description = [{
    A greedy list schedule: of the ops that are ready, the one that frees most. The given order stays when it peaks as low. The choice
    depends on the program alone, so that every rank issues its collectives in the same order.
  }];
}

#endif
