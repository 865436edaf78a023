// Passes that give ops to a target's libraries.
#ifndef SGD_PASSES_LIBRARY_PASSES_TD
#define SGD_PASSES_LIBRARY_PASSES_TD

include "mlir/Pass/PassBase.td"

def OffloadAttentionPass : Pass<"sgd-offload-attention", "::mlir::func::FuncOp"> {
  let summary = "Offloads attention of f16 and bf16 to the target's library, as fusion.library_attention";
  let description = [{
    Before: `fusion.attention` and its gradients. After: those without a mask tensor, of one type, whose dimensions are those of the library, are
    library calls: one forward, one for all gradients. Results have the program's layout or, where the library cannot write it, that of the corresponding
    operand, and are transposed. Results of f32 that are only rounded to the operands' type are of that type. The backward pass
    computes weights from one logarithm, which is wrong for rows of which a bias hides all; so there is no call where the bias is made with
    constants of 1e4 or more and gradients are asked for. Other attention ops become kernels.
  }];
  let dependentDialects = ["::mlir::fusion::FusionDialect"];
}

def PairTransformsPass : Pass<"sgd-pair-transforms", "::mlir::func::FuncOp"> {
  let summary = "Lets Fourier transforms read and write interleaved complex numbers";
  let description = [{
    Before: `sgd.linear_algebra` of kinds of Fourier transforms on real and imaginary parts, which are slices of a tensor with a last dimension of 2, or are put
    together as one. After: those read or write that tensor, and slices and concatenations that nothing else reads are removed.
  }];
}

#endif
