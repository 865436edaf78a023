// From ops of local shapes to matmuls, convolutions, sorts and scans that kernels and libraries compute.
#ifndef SGD_PASSES_KERNELS_LOWERING_PASSES_TD
#define SGD_PASSES_KERNELS_LOWERING_PASSES_TD

include "mlir/Pass/PassBase.td"

def ExpandGroupedDotsPass : Pass<"sgd-expand-grouped-dots", "::mlir::func::FuncOp"> {
  let summary = "Lowers grouped_dot to loops over groups and over the tiles of rows of each group";
  let description = [{
    Before: local shapes, no encodings. After: no sgd.grouped_dot. Each row is multiplied with the matrix of its own group, up to a tile at either end
    of a group whose rows belong to two; the number of tiles of a group is known at run time, and each rank runs its own trips.
  }];
  let dependentDialects = ["::mlir::sgd::SgdDialect", "::mlir::arith::ArithDialect"];
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

#endif
