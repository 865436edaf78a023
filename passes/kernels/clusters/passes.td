// Clusters (fusions): the ops of one kernel.
#ifndef SGD_PASSES_KERNELS_CLUSTERS_PASSES_TD
#define SGD_PASSES_KERNELS_CLUSTERS_PASSES_TD

include "mlir/Pass/PassBase.td"

def SplitReductionsPass : Pass<"sgd-split-reductions", "::mlir::func::FuncOp"> {
  let summary = "Splits large reductions into reductions of parts and a reduction of their results";
  let description = [{
    Before and after: local shapes. Reductions to few numbers, and reductions over the rows of a matrix, are cut along the reduced dimensions,
    so that threads share them and columns are read row by row; few columns are first summed as wider ones. The cut follows from shapes
    alone. Partial sums of bf16 and f16 are f32.
  }];
  let options = [Option<"parts", "parts", "int64_t", "32", "Workers that a reduction is split for: parts of columns; of rows four times as many at most">,
                 Option<"columns", "columns", "int64_t", "1024", "Neighbouring columns of one worker">];
  let dependentDialects = ["::mlir::sgd::SgdDialect", "::mlir::arith::ArithDialect"];
}

def FuseClustersPass : Pass<"sgd-fuse-clusters", "::mlir::func::FuncOp"> {
  let summary = "Fuses ops other than library calls and collectives into clusters, each one kernel";
  let description = [{
    Before: dot_generals are lowered, local shapes. After: the block holds clusters, matmuls, collectives, views (reshape, contiguous
    slice) and constants. An op joins the cluster of its readers when the kernel still walks its data once: elementwise chains, reductions
    with their producers and with consumers that walk the same rows again, several results over the same domain. Constants, index maps and
    cheap ops with one large operand are computed in each reader. Clusters over the same domain that read the same tensor become one.

    Where launches take time, so do clusters that read each other's results at the points that make them: consumers of row reductions,
    reductions of which one needs another's result, and elementwise ops together with reductions of their results.
  }];
  let dependentDialects = ["::mlir::fusion::FusionDialect"];
  let options = [Option<"elementsPerLaunch", "elements-per-launch", "int64_t", "0",
                        "Elements that a kernel handles in the time of its launch; 0: launches take no time">];
}

#endif
