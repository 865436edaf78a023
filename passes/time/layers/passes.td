// Passes over loops over layers.
#ifndef SGD_PASSES_TIME_LAYERS_PASSES_TD
#define SGD_PASSES_TIME_LAYERS_PASSES_TD

include "mlir/Pass/PassBase.td"

def ForwardSlicesPass : Pass<"sgd-forward-slices", "::mlir::func::FuncOp"> {
  let summary = "Reads values directly instead of through stacks that an unrolled loop has filled";
  let description = [{
    Before and after: a graph without shardings. An unrolled scan writes each value to a row of a stack, and the unrolled backward scan slices that row. Where all reads of a chain of
    `sgd.dynamic_update_slice` at fixed positions are slices of single updates, or of what was there before, each slice becomes the value that was written, or a part of it, and
    the chain is erased. Reshapes on the way are seen through, so stacks of stacks are too. A chain that anything else reads stays as it is, with its slices: memory would hold both
    the stack and its rows. Takes O(n log n) time for n updates and slices.
  }];
  let statistics = [Statistic<"numForwarded", "forwarded", "Slices that read a value directly">];
  let dependentDialects = ["::mlir::sgd::SgdDialect"];
}

def SplitLayersPass : Pass<"sgd-split-layers", "::mlir::ModuleOp"> {
  let summary = "Cuts loops over layers into one loop for each stage of a pipeline";
  let description = [{
    Before: a graph. After: each `sgd.while` over the rows of stacked state, as a scan over layers and its gradient are, is a loop for each range of layers, so that
    virtual stages take as long. Stacked arguments and results are one for each range (`sgd.rows`, `sgd.whole`, `sgd.stage`), and what is computed from them
    row by row, as the updates of an optimizer, is computed range by range. Of several programs, the loops of the one that carries state are cut, and others that share
    stacked state have it in the same ranges.

    Without `stages`, the mesh says how many virtual stages there are (`sgd.stages`, `sgd.schedule`); programs some of whose arguments have their stage already stay as they are.
  }];
  let options = [Option<"stages", "stages", "unsigned", "0", "How many virtual stages there are; 0: as the mesh says">,
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
