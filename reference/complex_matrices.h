// Linear algebra of one complex matrix in doubles, as matrices.h.
#ifndef SGD_REFERENCE_COMPLEX_MATRICES_H
#define SGD_REFERENCE_COMPLEX_MATRICES_H

#include <cstdint>
#include <vector>

#include "reference/matrices.h"

namespace mlir::sgd::reference {

ComplexMatrix transpose(const ComplexMatrix& a);
ComplexMatrix adjoint(const ComplexMatrix& a);

/// What stands in front of a matrix or a reflector.
enum class ComplexOf { Itself, Transpose, Adjoint };

/// a becomes its factor in one triangle; the 1-based row at which a is not positive definite, or 0.
int64_t factorCholesky(ComplexMatrix& a, bool isLower);

/// b becomes x with op(a) x = b.
void solveTriangular(const ComplexMatrix& a, bool isLower, ComplexOf op, bool hasUnitDiagonal, ComplexMatrix& b);

/// Rows are exchanged for the pivot whose parts' magnitudes have the largest sum, as in LAPACK. Pivots and result as
/// for real matrices.
int64_t factorLu(ComplexMatrix& a, std::vector<int64_t>& pivots);

/// r with a real diagonal above reflectors I - tau v v^H, and their taus; each step applies the adjoint. `columns` as
/// for real matrices.
std::vector<ComplexNumber> factorQr(ComplexMatrix& a, std::vector<int64_t>* columns);

/// c becomes the reflectors' product, or its adjoint, times c.
void multiplyReflectors(const ComplexMatrix& reflectors, const std::vector<ComplexNumber>& taus, bool isAdjoint,
                        ComplexMatrix& c);

/// h over reflectors, and their taus.
std::vector<ComplexNumber> reduceToHessenberg(ComplexMatrix& a);

/// Tridiagonal form, which is real, of a Hermitian matrix, of which one triangle is read, over reflectors, and their
/// taus.
std::vector<ComplexNumber> reduceToTridiagonal(ComplexMatrix& a, bool isLower);

}  // namespace mlir::sgd::reference

#endif
