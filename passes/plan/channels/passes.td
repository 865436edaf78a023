// Messages between the stages of a pipeline.
#ifndef SGD_PASSES_PLAN_CHANNELS_PASSES_TD
#define SGD_PASSES_PLAN_CHANNELS_PASSES_TD

include "mlir/Pass/PassBase.td"

def VerifyChannelsPass : Pass<"sgd-verify-channels", "::mlir::ModuleOp"> {
  let summary = "Proves that the programs of a pipeline's stages fit together";
  let description = [{
    Plan level. Executes the sends, receives and loops of all stages of each program with the depths of their channels: every message is
    received, in order and in the size in which it was sent, all programs end, and nothing is left in a channel
    (runtime/comm/collectives/channel_proof.h). Readers of artifacts repeat it. Programs without stages are left alone.
  }];
  let dependentDialects = ["::mlir::plan::PlanDialect"];
}

#endif
