// Linear algebra of one matrix in doubles: plain algorithms, whose results are LAPACK's where these are unique.
#ifndef SGD_REFERENCE_MATRICES_H
#define SGD_REFERENCE_MATRICES_H

#include <complex>
#include <cstdint>
#include <vector>

namespace mlir::sgd::reference {

/// Row-major.
template <typename T>
struct MatrixOf {
  int64_t rows = 0, columns = 0;
  std::vector<T> elements;

  MatrixOf() = default;
  MatrixOf(int64_t rows, int64_t columns) : rows(rows), columns(columns), elements(rows * columns, T(0)) {}
  T& operator()(int64_t row, int64_t column) { return elements[row * columns + column]; }
  T operator()(int64_t row, int64_t column) const { return elements[row * columns + column]; }
};

using ComplexNumber = std::complex<double>;
using Matrix = MatrixOf<double>;
using ComplexMatrix = MatrixOf<ComplexNumber>;

Matrix transpose(const Matrix& a);

// Of real and of complex matrices, of which symmetric means Hermitian and transposed means adjoint.

/// Eigenvalues of a symmetric matrix, ascending; a's columns become vectors.
template <typename T>
std::vector<double> diagonalize(MatrixOf<T>& a);

/// Singular values, descending; u [m, p] and v [n, p] of a [m, n] = u diag(values) v^T.
template <typename T>
std::vector<double> decomposeSingular(const MatrixOf<T>& a, MatrixOf<T>& u, MatrixOf<T>& v);

/// Orthonormal columns until the matrix, whose columns are orthonormal, is square.
template <typename T>
void completeBasis(MatrixOf<T>& columns);

/// a becomes its factor in one triangle; the 1-based row at which a is not positive definite, or 0.
int64_t factorCholesky(Matrix& a, bool isLower);

/// b becomes x with op(a) x = b.
void solveTriangular(const Matrix& a, bool isLower, bool isTransposed, bool hasUnitDiagonal, Matrix& b);

/// Rows are exchanged for the largest pivot; of pivots, counted from 1, entry i says with which row i was. The 1-based
/// column of the first pivot that is 0, or 0.
int64_t factorLu(Matrix& a, std::vector<int64_t>& pivots);

/// r above reflectors, and their taus. `columns`: as geqp3 exchanges them, counted from 1; null: they stay.
std::vector<double> factorQr(Matrix& a, std::vector<int64_t>* columns);

/// c becomes the reflectors' product, or its transpose, times c.
void multiplyReflectors(const Matrix& reflectors, const std::vector<double>& taus, bool isTransposed, Matrix& c);

/// h over reflectors, and their taus.
std::vector<double> reduceToHessenberg(Matrix& a);

/// Tridiagonal form of a symmetric matrix, of which one triangle is read, over reflectors, and their taus.
std::vector<double> reduceToTridiagonal(Matrix& a, bool isLower);

}  // namespace mlir::sgd::reference

#endif
