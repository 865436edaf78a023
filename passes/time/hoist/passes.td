// Passes that move work out of loops.
#ifndef SGD_PASSES_TIME_HOIST_PASSES_TD
#define SGD_PASSES_TIME_HOIST_PASSES_TD

include "mlir/Pass/PassBase.td"

def HoistMatmulsPass : Pass<"sgd-hoist-matmuls", "::mlir::ModuleOp"> {
  let summary = "Computes matmuls of all time steps at once, in front of a loop or behind it";
  let description = [{
    Before and after: the SPMD level. A loop over time, as of a recurrent layer, multiplies a few rows in each trip. Three kinds of its matmuls need not wait for their trip:

    * *Projections.* A row of the input times weights: one matmul of all rows in front of the loop; trips read rows of its result.
    * *Gradients of weights.* A matmul that a trip adds to a sum, `dw = dw + x_t^T @ dy_t`: operands are stacked, and one matmul behind the loop contracts the trips too.
    * *Gradients of inputs.* A matmul with weights whose result a trip only stacks: one matmul of all rows behind the loop.

    A matmul moves if the loop then reads and writes fewer bytes: weights or sums on one side, stacked operands and results on the other. What is stacked takes memory until the loop and its
    matmuls have ended: at most twice the bytes of what the loop steps over already. Loops whose trips depend on each other through sums alone, as of micro-batches, stay as they are: they exist to
    save memory.

    Sums of trips are added in another order, which does not depend on the number of ranks or threads. After: `sgd.decisions` of the function name the loops.
  }];
  let dependentDialects = ["::mlir::sgd::SgdDialect", "::mlir::arith::ArithDialect"];
  let statistics = [Statistic<"numProjections", "projections", "Matmuls in front of a loop">,
                    Statistic<"numSums", "sums", "Matmuls behind a loop that contract its trips">,
                    Statistic<"numRows", "rows", "Matmuls behind a loop of rows that it would stack">];
}

#endif
