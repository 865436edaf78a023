// Elementwise ops that become part of library calls.
#ifndef SGD_PASSES_KERNELS_EPILOGUES_PASSES_TD
#define SGD_PASSES_KERNELS_EPILOGUES_PASSES_TD

include "mlir/Pass/PassBase.td"

def ReuseActivationsPass : Pass<"sgd-reuse-activations", "::mlir::func::FuncOp"> {
  let summary = "Computes the mask of relu's gradient from its result instead of its operand";
  let description = [{
    Where `x` is read by `max(x, 0)` and otherwise only by comparisons `x > 0` or `x <= 0` after it, those read the maximum. The operand of
    relu is then not kept for the backward pass, and the bias and the maximum may become the matmul's epilogue.
  }];
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

#endif
