// Passes that shape the local program for execution: contractions, clusters and the order of ops.
#ifndef SGD_PASSES_SCHEDULE_PASSES_TD
#define SGD_PASSES_SCHEDULE_PASSES_TD

include "mlir/Pass/PassBase.td"

def ExpandGroupedDotsPass : Pass<"sgd-expand-grouped-dots", "::mlir::func::FuncOp"> {
  let summary = "grouped_dot to loops over groups and over the tiles of rows that each group has";
  let description = [{
    Before: local shapes, no encodings. After: no sgd.grouped_dot. Each row is multiplied with the matrix of its own group, up to a tile at either end
    of a group whose rows belong to two; how many tiles a group has is known at run time, and each rank makes its own trips.
  }];
  let dependentDialects = ["::mlir::sgd::SgdDialect", "::mlir::arith::ArithDialect"];
}

def LowerSortsPass : Pass<"sgd-lower-sorts", "::mlir::func::FuncOp"> {
  let summary = "sort to sort_rows: the sorted dimension last, with working memory";
  let description = [{
    Before: local shapes, no encodings. After: no sgd.sort; the sorted dimension of every fusion.sort_rows is the last, has at least two elements,
    and every sgd.top_k keeps so few that a row need not be sorted for them.
  }];
  let dependentDialects = ["::mlir::fusion::FusionDialect", "::mlir::arith::ArithDialect"];
}

def LowerConvolutionsPass : Pass<"sgd-lower-convolutions", "::mlir::func::FuncOp"> {
  let summary = "convolution with neighbouring transposes and reversals to fusion.convolution, or to dot_general";
  let description = [{
    Before: local shapes, no encodings. After: no sgd.convolution. Where every kernel is one element or the whole input, without padding, the
    convolution is a dot_general. Otherwise transposes of operands and result become the labels of a fusion.convolution, and a reversed kernel is read
    backwards, so that nothing is moved in memory. A fusion.convolution that the target's library does not take stands in a cluster of its own.
  }];
  let dependentDialects = ["::mlir::fusion::FusionDialect", "::mlir::arith::ArithDialect"];
}

def LowerDotGeneralsPass : Pass<"sgd-lower-dot-generals", "::mlir::func::FuncOp"> {
  let summary = "dot_general and neighbouring transposes to matmul";
  let description = [{
    Before: local shapes, no encodings. After: no sgd.dot_general; every fusion.matmul runs as strided matrix products (contraction_shape.h).
    Transposes above and below are folded into the labels where that is cheaper than moving elements; what no product with strides can
    take or write is transposed explicitly. Products of integers that the target's library has not become sums of elementwise products.
    Operands have one element type, the one that the library asks for. Operands of f8 stay where it takes them as they are, perhaps transposed: the
    contracted dimension innermost in both. Others are converted.
  }];
  let dependentDialects = ["::mlir::fusion::FusionDialect"];
}

def FuseEpiloguesPass : Pass<"sgd-fuse-epilogues", "::mlir::func::FuncOp"> {
  let summary = "What follows a matmul or a convolution becomes part of its call, where the target's library takes that";
  let description = [{
    Before: matmuls and convolutions are lowered, nothing is in clusters. After: these are fusion.library_matmul or fusion.library_convolution
    where the library computes them with one of the lists that its model takes:

    * Gelu in the form with tanh of a product, or of a product and a bias over its last dimension, and gelu's derivative times a product. The formulas are
      compared as polynomials in the pre-activation, its tanh and the product, whose coefficients may differ by what rounding to the element
      type changes.
    * A bias over the columns, with the maximum with zero behind it.
    * A tensor to add to, in whose buffer the sum is written: only where the product needs all other readers of that tensor, so that it
      dies there in every order of the ops.
    * Sums of an operand over exactly the dimensions that the product contracts: a bias's gradient beside that of the weights.

    A bias is fused only where something outside of kernels reads the sum, a tensor unless the sum is a step of one kernel; and only what lies
    in memory anyway becomes an operand: what a kernel computes on its way stays in the kernel. Products in batches stay as they are for targets that compute in tiles (sgd-fuse-tiles).
  }];
  let dependentDialects = ["::mlir::fusion::FusionDialect"];
}

def MatchAttentionPass : Pass<"sgd-match-attention", "::mlir::func::FuncOp"> {
  let summary = "Softmaxes between products of queries, keys and values become fusion.attention and its gradients";
  let description = [{
    Before: dot_generals are lowered, local shapes. After: where a softmax of scaled, biased and masked products is read by products alone, forward
    and backward, these are `fusion.attention`, `fusion.attention_query_gradient` and `fusion.attention_key_gradient`, and no tensor of the scores'
    size is left. What is computed behind the exponential is followed in an algebra of four quantities, so that it does not matter how a softmax
    and its gradient are written. Transposes and conversions to a wider type go into the operands. A mask that hides, with at most -1e8, all
    columns behind a diagonal, and of no row all, becomes `diagonal`; others, and biases, become operands without what they were broadcast along.

    A softmax stays as it is when anything else reads what lies between its ops, when a gradient is of other tensors than the forward pass read,
    or when types or depths are not the target's.
  }];
  let dependentDialects = ["::mlir::fusion::FusionDialect", "::mlir::arith::ArithDialect"];
  let options = [Option<"depth", "depth", "int64_t", "256", "The most elements of a key, or of a value, that the target's kernels take">];
}

def ReuseActivationsPass : Pass<"sgd-reuse-activations", "::mlir::func::FuncOp"> {
  let summary = "Masks of relu's gradient are taken from its result instead of its operand";
  let description = [{
    Where `x` is read by `max(x, 0)` and otherwise only by comparisons `x > 0` or `x <= 0` after it, those read the maximum. What is before
    relu is then not kept for the backward pass, and the bias and the maximum may become the matrix product's epilogue.
  }];
}

def LowerScansPass : Pass<"sgd-lower-scans", "::mlir::func::FuncOp"> {
  let summary = "Cumulative ops become steps over the whole tensor, or kernels";
  let description = [{
    Before: local shapes, no encodings. After: without `workers` no sgd.cumulative; each is log2(size) combinations of the tensor with itself,
    moved on. With `workers` every sgd.cumulative is one that becomes a kernel: few long rows are cut in parts, which are scanned by
    themselves and then take what comes before them; few long columns are rows while they are scanned.
  }];
  let options = [Option<"workers", "workers", "int64_t", "0", "how many parts of rows keep the device busy; 0: scans are no kernels">];
  let dependentDialects = ["::mlir::sgd::SgdDialect", "::mlir::arith::ArithDialect"];
}

def SplitReductionsPass : Pass<"sgd-split-reductions", "::mlir::func::FuncOp"> {
  let summary = "Large reductions become reductions of parts and a reduction of the parts' results";
  let description = [{
    Before and after: local shapes. Reductions to few numbers, and sums over the rows of a matrix, are cut along the reduced dimensions,
    so that threads share them and columns are read row by row; few columns are first summed as wider ones. The cut follows from shapes
    alone. Partial sums of bf16 and f16 are f32.
  }];
  let options = [Option<"parts", "parts", "int64_t", "32", "workers that a reduction is cut for: parts of columns; of rows four times as many at most">,
                 Option<"columns", "columns", "int64_t", "1024", "neighbouring columns that one worker takes">];
  let dependentDialects = ["::mlir::sgd::SgdDialect", "::mlir::arith::ArithDialect"];
}

def FuseClustersPass : Pass<"sgd-fuse-clusters", "::mlir::func::FuncOp"> {
  let summary = "Wraps what is not a library call or collective into clusters, each one kernel";
  let description = [{
    Before: dot_generals are lowered, local shapes. After: the block holds clusters, matmuls, collectives, views (reshape, contiguous
    slice) and constants. An op joins the cluster of its readers when the kernel still walks its data once: elementwise chains, reductions
    with what they reduce and with what walks the same rows again, several results over the same domain. Constants, index maps and
    cheap ops with one large operand are computed in each reader. Clusters over the same domain that read the same tensor become one.

    Where launches take time, so do clusters that read each other's results at the points that make them: what follows sums for each row of
    them, sums of which one needs another's, and elements together with what reduces them.
  }];
  let dependentDialects = ["::mlir::fusion::FusionDialect"];
  let options = [Option<"elementsPerLaunch", "elements-per-launch", "int64_t", "0",
                        "Elements that a kernel handles in the time of its launch; 0: launches take no time">];
}

def FuseTilesPass : Pass<"sgd-fuse-tiles", "::mlir::func::FuncOp"> {
  let summary = "Matmuls around a cluster, with large tensors between them only, become one fusion.tiled";
  let description = [{
    Before: ops are in clusters. After: where products feed a kernel large tensors or take them from it (attention, forward
    and backward), all of them are computed together: once per batch index, in blocks of rows, so that what lies between them stays in the
    cache. What adds up over rows is added block by block, in order. Large results that a later group reads are computed again in it where
    that costs less than keeping them. Columns that a mask known at compile time sends to at most -1e8 before the exponential are left out,
    in all products too: their weights are exactly zero. (NaN or infinity in what a mask hides then stays hidden.) Sharding rules and labels
    alone say how ops are cut.

    Groups without a common batch dimension, with less than 32 KiB between the ops of a tile, or whose kernels would get parts that are not
    contiguous, stay as they are.
  }];
  let dependentDialects = ["::mlir::fusion::FusionDialect"];
  let options = [Option<"scratchBytes", "scratch-bytes", "int64_t", "655360",
                        "Most bytes that the values between the ops of a tile should take: half of a core's cache; 0: no tiles">,
                 Option<"flopsPerByte", "flops-per-byte", "int64_t", "20",
                        "Operations that cost a thread what writing and reading a byte of memory does: values are computed again where that is less">];
}

def NormalizeOrderPass : Pass<"sgd-normalize-order", "::mlir::func::FuncOp"> {
  let summary = "Orders ops by what they compute, so that the order of the source decides nothing";
  let description = [{
    Before: one block, no ops moved yet. After: ops are sorted by the longest chain of operands before them, then by when a walk from the
    results, operands first, meets them. Two programs that differ only in names and in the order of independent ops become the same.
    Functions with ops that have effects stay as they are.
  }];
}

def OrderPass : Pass<"sgd-order", "::mlir::func::FuncOp"> {
  let summary = "Sorts ops so that the bytes alive at the same time peak lower";
  let description = [{
    A greedy list schedule: of the ops that are ready, the one that frees most. The given order stays when it peaks as low. What is chosen
    depends on the program alone, so that every rank issues its collectives in the same order.
  }];
}

#endif
