// Kinds of linear algebra; apart, since both levels have them and one of them generates the enum.
#ifndef SGD_DIALECTS_SGD_LINEAR_ALGEBRA_KIND_TD
#define SGD_DIALECTS_SGD_LINEAR_ALGEBRA_KIND_TD

include "mlir/IR/EnumAttr.td"

// In the order of sgd::linear_algebra::Kind, which says what each computes.
def Sgd_LinearAlgebraKind : I32EnumAttr<"LinearAlgebraKind", "a decomposition, solver or transform", [
    I32EnumAttrCase<"Cholesky", 0, "cholesky">, I32EnumAttrCase<"TriangularSolve", 1, "triangular_solve">, I32EnumAttrCase<"Lu", 2, "lu">,
    I32EnumAttrCase<"Qr", 3, "qr">, I32EnumAttrCase<"PivotedQr", 4, "pivoted_qr">,
    I32EnumAttrCase<"HouseholderProduct", 5, "householder_product">, I32EnumAttrCase<"HouseholderMultiply", 6, "householder_multiply">,
    I32EnumAttrCase<"Eigh", 7, "eigh">, I32EnumAttrCase<"Svd", 8, "svd">, I32EnumAttrCase<"Eig", 9, "eig">, I32EnumAttrCase<"Schur", 10, "schur">,
    I32EnumAttrCase<"Hessenberg", 11, "hessenberg">, I32EnumAttrCase<"Tridiagonal", 12, "tridiagonal">,
    I32EnumAttrCase<"TridiagonalSolve", 13, "tridiagonal_solve">, I32EnumAttrCase<"Fft", 14, "fft">, I32EnumAttrCase<"RealFft", 15, "real_fft">,
    I32EnumAttrCase<"InverseRealFft", 16, "inverse_real_fft">]> {
  let cppNamespace = "::mlir::sgd";
}

// Options of a call, as attributes of both levels.
defvar SgdLinearAlgebraOptions = (ins UnitAttr:$lower, UnitAttr:$right, UnitAttr:$transpose, UnitAttr:$unit_diagonal,
                                      UnitAttr:$vectors, UnitAttr:$left_vectors, UnitAttr:$full, UnitAttr:$qr_iteration,
                                      UnitAttr:$inverse, UnitAttr:$odd_length, UnitAttr:$two_dims, UnitAttr:$three_dims,
                                      UnitAttr:$paired_operand, UnitAttr:$paired_result, UnitAttr:$complex,
                                      UnitAttr:$conjugate);
defvar SgdLinearAlgebraOptionsFormat = [{
    (`lower` $lower^)? (`right` $right^)? (`transpose` $transpose^)? (`unit_diagonal` $unit_diagonal^)? (`vectors` $vectors^)?
    (`left_vectors` $left_vectors^)? (`full` $full^)? (`qr_iteration` $qr_iteration^)?
    (`inverse` $inverse^)? (`odd_length` $odd_length^)? (`two_dims` $two_dims^)? (`three_dims` $three_dims^)?
    (`paired_operand` $paired_operand^)? (`paired_result` $paired_result^)? (`complex` $complex^)? (`conjugate` $conjugate^)?
}];

#endif
