// Passes that say or note something for the report and change nothing.
#ifndef SGD_COMPILER_REPORT_PASSES_TD
#define SGD_COMPILER_REPORT_PASSES_TD

include "mlir/Pass/PassBase.td"

def WarnOfRepeatedOpsPass : Pass<"sgd-warn-of-repeated-ops", "::mlir::ModuleOp"> {
  let summary = "Warns if ranks repeat more than 10 % of the operations of a step";
  let description = [{
    Runs on the module of a compilation at the sharded level, and looks at the program that is reported: the first that changes state, else the first. The warning, at the op that counts most,
    names the axes, the first few ops with their source locations, why they are repeated, and how to shard them. After: `sgd.advice` of the module has its text, for the report behind the plan.
  }];
}

def RecordLowerBoundPass : Pass<"sgd-record-lower-bound", "::mlir::ModuleOp"> {
  let summary = "Notes how many bytes any program with these shardings sends";
  let description = [{
    Runs on the module of a compilation at the sharded level. After: `sgd.lower_bound` of the module is that of the program which is reported (docs/communication.md), for the report behind the plan.
  }];
}

def RecordTextPass : Pass<"sgd-record-text", "::mlir::ModuleOp"> {
  let summary = "Notes the text of the programs, for `sgdc --emit`";
  let description = [{
    Runs on the module of a compilation, behind `sgd-close-level`. After: `sgd.text` of the module is the text of its programs, one after another, without what only compilations have. The text
    stays with the module through later levels, so that of several alternatives the chosen one's is printed.

    With `stablehlo`, which is for the SPMD level alone, the text is StableHLO with source locations (`sgdc --emit=stablehlo`).
  }];
  let options = [Option<"stablehlo", "stablehlo", "bool", "false", "In ops of StableHLO, as sgd-export-stablehlo makes them">];
}

#endif
