// Grouped matmuls: ragged_dot in a form that the partitioner can shard.
#ifndef SGD_DIALECTS_SGD_GROUPED_DOT_OPS_TD
#define SGD_DIALECTS_SGD_GROUPED_DOT_OPS_TD

include "dialects/sgd/sgd_dialect.td"
include "mlir/IR/BuiltinAttributes.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Sgd_GroupedDotOp : Sgd_Op<"grouped_dot", [Pure]> {
  let summary = "Grouped matmul: each row times the matrix of its group, or for each group the matmul that contracts its rows";
  let description = [{
    Behind leading dimensions that all operands and the result have: lhs [M, K], `rows` [M] and `groups` [G], integers of 32 bits. Row m belongs
    to group g where rows[m] = groups[g], and to none where no group has its number. Rows of one group follow each other, so that a rank's part of
    the rows, or of the groups, is again a grouped matmul.

    * rhs [G, K, N], or [G, N, K] where it is `transposed`: result [M, N], row m of lhs times the matrix of its group, zero where it has none.
    * `contracted`, rhs [M, N]: result [G, K, N], the sum over the rows of a group of lhs[m, k] * rhs[m, n].

    Accumulates in at least f32; the result is rounded once to its element type. `tf32` as for dot_general.

    ```mlir
    %1 = sgd.grouped_dot %x, %w rows = %rows groups = %groups : (tensor<64x16xf32>, tensor<4x16x32xf32>, tensor<64xi32>, tensor<4xi32>) -> tensor<64x32xf32>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$lhs, AnyRankedTensor:$rhs, AnyRankedTensor:$rows, AnyRankedTensor:$groups, UnitAttr:$contracted,
    UnitAttr:$transposed, UnitAttr:$tf32);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $lhs `,` $rhs `rows` `=` $rows `groups` `=` $groups (`contracted` $contracted^)? (`transposed` $transposed^)? attr-dict `:`
    functional-type(operands, $result)
  }];
  let hasVerifier = 1;
}

#endif
