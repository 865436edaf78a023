// Passes that cut a program into the stages of a pipeline.
#ifndef SGD_PASSES_STAGES_PASSES_TD
#define SGD_PASSES_STAGES_PASSES_TD

include "mlir/Pass/PassBase.td"

def PrintStagesPass : Pass<"sgd-print-stages", "::mlir::ModuleOp"> {
  let summary = "Says by remarks on which stage of a pipeline each op and argument is, and what is sent";
  let description = [{
    Runs on the program of one coordinate of the sequential axis (`sgd-localize`). For tests of the placement, and for a look at where a model would be cut. Changes
    nothing.
  }];
  let options = [Option<"stages", "stages", "unsigned", "2", "How many stages there are">,
                 Option<"topology", "topology", "std::string", "\"host\"", "Name or file of a topology">];
}

#endif
