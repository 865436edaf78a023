// The order of a graph's ops and of the dimensions of its tensors.
#ifndef SGD_PASSES_GRAPH_NORMALIZE_PASSES_TD
#define SGD_PASSES_GRAPH_NORMALIZE_PASSES_TD

include "mlir/Pass/PassBase.td"

def NormalizeOrderPass : Pass<"sgd-normalize-order", "::mlir::func::FuncOp"> {
  let summary = "Sorts ops into a canonical order that does not depend on the order in the source";
  let description = [{
    Before: one block, no ops moved yet. After: ops are sorted by the longest chain of operands before them, then by when a walk from the
    results, operands first, meets them. Two programs that differ only in names and in the order of independent ops become the same.
    Functions with ops that have effects stay as they are.
  }];
}

def MoveChannelsLastPass : Pass<"sgd-move-channels-last", "::mlir::func::FuncOp"> {
  let summary = "Computes between convolutions with channels as the last dimension";
  let description = [{
    Before: convolutions of programs whose tensors have channels as dimension 1, as PyTorch's, are transposes, a convolution with features last, and
    a transpose back. After: those transposes back have moved behind the elementwise ops, reductions, slices, paddings, concatenations and reshapes that
    read them, and are gone where they meet the next convolution. An op with further operands is rewritten unless these are larger than what is moved. Values are
    the same; sums over several dimensions have another order.

    ```mlir
    %1 = sgd.transpose %0 permutation = [0, 3, 1, 2] : tensor<2x4x4x8xf32> -> tensor<2x8x4x4xf32>      // of a convolution
    %2 = math.absf %1 : tensor<2x8x4x4xf32>
    ```
    becomes
    ```mlir
    %1 = math.absf %0 : tensor<2x4x4x8xf32>
    %2 = sgd.transpose %1 permutation = [0, 3, 1, 2] : tensor<2x4x4x8xf32> -> tensor<2x8x4x4xf32>
    ```
  }];
}

#endif
