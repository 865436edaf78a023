// Passes that give ops to a target's libraries.
#ifndef SGD_PASSES_KERNELS_LIBRARY_PASSES_TD
#define SGD_PASSES_KERNELS_LIBRARY_PASSES_TD

include "mlir/Pass/PassBase.td"

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
