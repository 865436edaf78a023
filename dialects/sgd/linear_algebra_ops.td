// Decompositions, solvers and Fourier transforms, by one op: they differ in numbers of operands and results, not in how they are treated.
#ifndef SGD_DIALECTS_SGD_LINEAR_ALGEBRA_OPS_TD
#define SGD_DIALECTS_SGD_LINEAR_ALGEBRA_OPS_TD

include "dialects/sgd/linear_algebra_kind.td"
include "dialects/sgd/sgd_dialect.td"
include "mlir/IR/BuiltinAttributes.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Sgd_LinearAlgebraOp : Sgd_Op<"linear_algebra", [Pure]> {
  let summary = "A decomposition or solver of linear algebra for each matrix of a batch, or a Fourier transform of it";
  let description = [{
    All operands and results have the same leading dimensions, the batch; behind them are the vectors, matrices (rows, then columns) and numbers of
    one matrix, of f32 or f64, and integers as i32. The operands and results of each kind, in LAPACK's conventions, are in `runtime/linear_algebra/form.h`:

    With `complex` the matrices are complex: every tensor that is not one of integers or of real values is two, real parts and behind them imaginary
    ones. `conjugate`, beside `transpose`, conjugates too.

    | kind | operands | results | options |
    |---|---|---|---|
    | `cholesky` | a | factor, info | `lower` |
    | `triangular_solve` | a, b | x | `lower`, `right`, `transpose`, `unit_diagonal`, `conjugate` |
    | `lu` | a | l and u, pivots, info | |
    | `qr` | a | r and reflectors, taus | |
    | `pivoted_qr` | a, pivots | r and reflectors, pivots, taus | |
    | `householder_product` | reflectors, taus | q | |
    | `householder_multiply` | reflectors, taus, c | q c | `right`, `transpose`, `conjugate` |
    | `eigh` | a | (vectors,) values, info | `lower`, `vectors` |
    | `svd` | a | values, (u, v transposed,) info | `vectors`, `full`, `qr_iteration` |
    | `eig` | a | values, (left vectors, vectors,) info; all but info are complex, also of real matrices | `vectors`, `left_vectors` |
    | `schur` | a | t, (vectors,) eigenvalues, which are complex, info | `vectors` |
    | `hessenberg` | a | h and reflectors, taus, info | |
    | `tridiagonal` | a | reflectors, diagonal, off-diagonal, taus, info | `lower` |
    | `tridiagonal_solve` | lower, main, upper diagonal, b | x, info | |
    | `fft` | re, im | re, im | `inverse`, `two_dims`, `three_dims`, `paired_operand`, `paired_result` |
    | `real_fft` | x | re, im of elements 0 to n / 2 of the last dimension | `two_dims`, `three_dims`, `paired_result` |
    | `inverse_real_fft` | re, im of elements 0 to n / 2 | x | `odd_length`, `two_dims`, `three_dims`, `paired_operand` |

    Transforms are over the last dimension, or the last two or three; inverse ones divide by the number of elements. Parts that are paired are one tensor
    with a last dimension of 2.

    `info` is 0 for a matrix where all went well; elsewhere the other results of that matrix are not to be used. A matrix that `eigh`, `svd`, `eig`
    or `schur` reads with an infinity or a NaN in it gives NaNs.

    ```mlir
    %factor, %info = sgd.linear_algebra cholesky lower (%a) : (tensor<8x4x4xf32>) -> (tensor<8x4x4xf32>, tensor<8xi32>)
    %t, %u, %information = sgd.linear_algebra cholesky lower complex (%re, %im)
      : (tensor<8x4x4xf32>, tensor<8x4x4xf32>) -> (tensor<8x4x4xf32>, tensor<8x4x4xf32>, tensor<8xi32>)
    ```
  }];
  let arguments = !con((ins Variadic<AnyRankedTensor>:$inputs, Sgd_LinearAlgebraKind:$kind), SgdLinearAlgebraOptions);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let assemblyFormat = !strconcat("$kind", SgdLinearAlgebraOptionsFormat, "`(` $inputs `)` attr-dict `:` functional-type($inputs, $results)");
  let hasVerifier = 1;
}

#endif
