// Passes that cut loops over layers.
#ifndef SGD_PASSES_LAYERS_PASSES_TD
#define SGD_PASSES_LAYERS_PASSES_TD

include "mlir/Pass/PassBase.td"

def SplitLayersPass : Pass<"sgd-split-layers", "::mlir::ModuleOp"> {
  let summary = "Cuts loops over layers into one loop for each stage of a pipeline";
  let description = [{
    Before: a graph. After: each `sgd.while` over the rows of stacked state, as a scan over layers and its gradient are, is a loop for each range of layers, so that
    virtual stages take as long. Stacked arguments and results are one for each range (`sgd.rows`, `sgd.whole`, `sgd.stage`), and what is computed from them
    row by row, as the updates of an optimizer, is computed range by range. `sgdc` does the same for all programs of an artifact.
  }];
  let options = [Option<"stages", "stages", "unsigned", "2", "How many virtual stages there are">,
                 Option<"topology", "topology", "std::string", "\"host\"", "Name or file of a topology">];
  let dependentDialects = ["::mlir::sgd::SgdDialect", "::mlir::arith::ArithDialect"];
}

def AlignRowsPass : Pass<"sgd-align-rows", "::mlir::ModuleOp"> {
  let summary = "Gives all rows of a stacked tensor one sharding";
  let description = [{
    Before: every tensor has its sharding; arguments and results that are rows of one tensor (`sgd-split-layers`) may be sharded in several ways, since what is around the first
    and the last layers is another thing. After: all are sharded as the first rows are, and resharded where something else is needed. What a step
    carries is sharded as the argument that it becomes.
  }];
  let statistics = [Statistic<"numChanged", "changed", "Arguments and results that were sharded otherwise">];
  let dependentDialects = ["::mlir::sgd::SgdDialect"];
}

#endif
