// Passes that give ops to a target's libraries.
#ifndef SGD_PASSES_LIBRARY_PASSES_TD
#define SGD_PASSES_LIBRARY_PASSES_TD

include "mlir/Pass/PassBase.td"

def OffloadAttentionPass : Pass<"sgd-offload-attention", "::mlir::func::FuncOp"> {
  let summary = "Attention of f16 and bf16 becomes fusion.library_attention where the target's library computes it";
  let description = [{
    Before: `fusion.attention` and its gradients. After: those without a mask tensor, of one type, whose dimensions are those of the library, are
    calls of it: one forward, one for all gradients. Results lie as the program has them or, where the library cannot write them so, as the operand that they go
    with, and are transposed. Results of f32 that are only rounded to the operands' type are of that type. The backward pass
    takes weights from one logarithm, which is wrong for rows of which a bias hides all; so there is no call where the bias is made with
    constants of 1e4 or more and gradients are asked for. What is left becomes kernels.
  }];
  let dependentDialects = ["::mlir::fusion::FusionDialect"];
}

def PairTransformsPass : Pass<"sgd-pair-transforms", "::mlir::func::FuncOp"> {
  let summary = "Fourier transforms read and write pairs of parts where the program has them";
  let description = [{
    Before: `sgd.linear_algebra` of kinds of Fourier transforms on real and imaginary parts, which are slices of a tensor with a last dimension of 2, or are put
    together as one. After: those read or write that tensor, and slices and concatenations that nobody else needs are gone.
  }];
}

#endif
