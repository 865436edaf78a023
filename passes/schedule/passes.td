// Passes that shape the local program for execution: contractions, clusters and the order of ops.
#ifndef SGD_PASSES_SCHEDULE_PASSES_TD
#define SGD_PASSES_SCHEDULE_PASSES_TD

include "mlir/Pass/PassBase.td"

def ExpandGroupedDotsPass : Pass<"sgd-expand-grouped-dots", "::mlir::func::FuncOp"> {
  let summary = "Lowers grouped_dot to loops over groups and over the tiles of rows of each group";
  let description = [{
    Before: local shapes, no encodings. After: no sgd.grouped_dot. Each row is multiplied with the matrix of its own group, up to a tile at either end
    of a group whose rows belong to two; the number of tiles of a group is known at run time, and each rank runs its own trips.
  }];
  let dependentDialects = ["::mlir::sgd::SgdDialect", "::mlir::arith::ArithDialect"];
}

def LowerSortsPass : Pass<"sgd-lower-sorts", "::mlir::func::FuncOp"> {
  let summary = "Lowers sort to sort_rows: the sorted dimension last, with working memory";
  let description = [{
    Before: local shapes, no encodings. After: no sgd.sort; the sorted dimension of every fusion.sort_rows is the last, has at least two elements,
    and every sgd.top_k keeps so few elements that a row need not be sorted for them.
  }];
  let dependentDialects = ["::mlir::fusion::FusionDialect", "::mlir::arith::ArithDialect"];
}

def LowerConvolutionsPass : Pass<"sgd-lower-convolutions", "::mlir::func::FuncOp"> {
  let summary = "Lowers convolution with neighbouring transposes and reversals to fusion.convolution or dot_general";
  let description = [{
    Before: local shapes, no encodings. After: no sgd.convolution. Where every kernel is one element or the whole input, without padding, the
    convolution is a dot_general. Otherwise transposes of operands and result become the labels of a fusion.convolution, and a reversed kernel is read
    backwards, so that nothing is moved in memory. A fusion.convolution that the target's library does not support is in a cluster of its own.
  }];
  let dependentDialects = ["::mlir::fusion::FusionDialect", "::mlir::arith::ArithDialect"];
}

def LowerDotGeneralsPass : Pass<"sgd-lower-dot-generals", "::mlir::func::FuncOp"> {
  let summary = "Lowers dot_general and neighbouring transposes to fusion.matmul";
  let description = [{
    Before: local shapes, no encodings. After: no sgd.dot_general; every fusion.matmul runs as strided matmuls of the library (contraction_shape.h).
    Transposes above and below are folded into the labels where that is cheaper than moving elements; layouts that no strided matmul can
    read or write are transposed explicitly. Integer matmuls that the target's library does not support become elementwise multiplications and reductions.
    Operands have one element type, the one that the library asks for. Operands of f8 stay f8 where the library supports them, perhaps transposed: the
    contracted dimension innermost in both. Others are converted.
  }];
  let dependentDialects = ["::mlir::fusion::FusionDialect"];
}

def FuseEpiloguesPass : Pass<"sgd-fuse-epilogues", "::mlir::func::FuncOp"> {
  let summary = "Fuses epilogues into matmuls and convolutions, where the target's library supports them";
  let description = [{
    Before: matmuls and convolutions are lowered, nothing is in clusters. After: these are fusion.library_matmul or fusion.library_convolution
    where the library supports one of these lists of epilogues:

    * Gelu in the form with tanh of a matmul, or of a matmul and a bias over its last dimension, and gelu's derivative times a matmul. The formulas are
      compared as polynomials in the pre-activation, its tanh and the matmul, whose coefficients may differ by what rounding to the element
      type changes.
    * A bias over the columns, with the maximum with zero behind it.
    * A residual, in whose buffer the sum is written: only where the matmul needs all other readers of that tensor, so that it
      dies there in every order of the ops.
    * The reduction of an operand over exactly the dimensions that the matmul contracts: a bias's gradient beside that of the weights.

    A bias is fused only where something outside of kernels reads the sum, a residual unless the sum is a step of one kernel; and only a tensor that is
    in memory anyway becomes an operand: values inside of a kernel stay in the kernel. Batched matmuls stay as they are for targets that compute in tiles (sgd-fuse-tiles).
  }];
  let dependentDialects = ["::mlir::fusion::FusionDialect"];
}

def PackWeightsPass : Pass<"sgd-pack-weights", "::mlir::func::FuncOp"> {
  let summary = "Packs weights that a loop multiplies by once, in front of it";
  let description = [{
    Before and after: matmuls are lowered, nothing is in clusters. A library that multiplies few rows by a large matrix reads the matrix in panels of columns: it packs them, or reads them at long strides, each time. Where a loop of
    four or more known trips leaves weights `[k, n]` (or `[n, k]`) as they are, they are transposed to `[n / columns, k, columns]` in front of it, and the matmul's column label becomes two. The library model says which shapes gain. The
    packed weights take as much memory as the weights, through the loop. Values are the same bit by bit.
  }];
  let dependentDialects = ["::mlir::fusion::FusionDialect", "::mlir::sgd::SgdDialect"];
}

def MatchAttentionPass : Pass<"sgd-match-attention", "::mlir::func::FuncOp"> {
  let summary = "Raises softmaxes between matmuls of queries, keys and values to fusion.attention and its gradients";
  let description = [{
    Before: dot_generals are lowered, local shapes. After: where a softmax of a scaled, biased and masked matmul is read by matmuls alone, forward
    and backward, these are `fusion.attention`, `fusion.attention_query_gradient` and `fusion.attention_key_gradient`, and no tensor of the scores'
    size is left. An algebra of four quantities follows the values behind the exponential, so that it does not matter how a softmax
    and its gradient are written. Transposes and conversions to a wider type go into the operands. A mask that hides, with at most -1e8, all
    columns behind a diagonal, and of no row all, becomes `diagonal`; others, and biases, become operands without what they were broadcast along.

    A softmax stays as it is when anything else reads its intermediate values, when a gradient is of other tensors than the forward pass read,
    or when types or depths are not the target's.
  }];
  let dependentDialects = ["::mlir::fusion::FusionDialect", "::mlir::arith::ArithDialect"];
  let options = [Option<"depth", "depth", "int64_t", "256", "The most elements of a key, or of a value, that the target's kernels take">];
}

def ReuseActivationsPass : Pass<"sgd-reuse-activations", "::mlir::func::FuncOp"> {
  let summary = "Computes the mask of relu's gradient from its result instead of its operand";
  let description = [{
    Where `x` is read by `max(x, 0)` and otherwise only by comparisons `x > 0` or `x <= 0` after it, those read the maximum. The operand of
    relu is then not kept for the backward pass, and the bias and the maximum may become the matmul's epilogue.
  }];
}

def LowerScansPass : Pass<"sgd-lower-scans", "::mlir::func::FuncOp"> {
  let summary = "Lowers cumulative ops to steps over the whole tensor, or to kernels";
  let description = [{
    Before: local shapes, no encodings. After: without `workers` no sgd.cumulative; each is log2(size) combinations of the tensor with itself,
    moved on. With `workers` every sgd.cumulative is one that becomes a kernel: few long rows are cut in parts, which are scanned by
    themselves and then combined with the parts before them; few long columns are transposed to rows while they are scanned.
  }];
  let options = [Option<"workers", "workers", "int64_t", "0", "Parts of rows that keep the device busy; 0: no scan kernels">];
  let dependentDialects = ["::mlir::sgd::SgdDialect", "::mlir::arith::ArithDialect"];
}

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

def FuseTilesPass : Pass<"sgd-fuse-tiles", "::mlir::func::FuncOp"> {
  let summary = "Matmuls around a cluster, with large tensors between them only, become one fusion.tiled";
  let description = [{
    Before: ops are in clusters. After: where matmuls feed a kernel large tensors or read them from it (attention, forward
    and backward), all of them are computed together: once per batch index, in blocks of rows, so that values between them stay in the
    cache. Reductions over rows accumulate block by block, in order. Large results that a later group reads are computed again in it where
    that costs less than keeping them. Columns that a mask known at compile time sends to at most -1e8 before the exponential are left out,
    in all matmuls too: their weights are exactly zero. (NaN or infinity in masked columns then stays hidden.) Sharding rules and labels
    alone say how ops are cut.

    Groups without a common batch dimension, with less than 32 KiB between the ops of a tile, or whose kernels would get parts that are not
    contiguous, stay as they are.
  }];
  let dependentDialects = ["::mlir::fusion::FusionDialect"];
  let options = [Option<"scratchBytes", "scratch-bytes", "int64_t", "655360",
                        "Most bytes of the values between the ops of a tile: half of a core's cache; 0: no tiles">,
                 Option<"flopsPerByte", "flops-per-byte", "int64_t", "20",
                        "Operations that take a thread as long as writing and reading a byte of memory: values are recomputed where that is cheaper">];
}

def NormalizeOrderPass : Pass<"sgd-normalize-order", "::mlir::func::FuncOp"> {
  let summary = "Sorts ops into a canonical order that does not depend on the order in the source";
  let description = [{
    Before: one block, no ops moved yet. After: ops are sorted by the longest chain of operands before them, then by when a walk from the
    results, operands first, meets them. Two programs that differ only in names and in the order of independent ops become the same.
    Functions with ops that have effects stay as they are.
  }];
}

def OrderPass : Pass<"sgd-order", "::mlir::func::FuncOp"> {
  let summary = "Schedules ops to lower the peak of live bytes";
  let description = [{
    A greedy list schedule: of the ops that are ready, the one that frees most. The given order stays when it peaks as low. The choice
    depends on the program alone, so that every rank issues its collectives in the same order.
  }];
}

#endif
