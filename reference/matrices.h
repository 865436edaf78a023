// Linear algebra of one matrix, real or complex, in doubles: plain algorithms, whose results are LAPACK's where these
// are unique.
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

inline double conjugate(double x) { return x; }
inline ComplexNumber conjugate(ComplexNumber z) { return std::conj(z); }
inline double realPart(double x) { return x; }
inline double realPart(ComplexNumber z) { return z.real(); }
inline double imaginaryPart(double) { return 0; }
inline double imaginaryPart(ComplexNumber z) { return z.imag(); }

template <typename T>
MatrixOf<T> identity(int64_t size) {
  MatrixOf<T> result(size, size);
  for (int64_t i = 0; i < size; ++i) result(i, i) = 1;
  return result;
}

template <typename T>
MatrixOf<T> transpose(const MatrixOf<T>& a) {
  MatrixOf<T> result(a.columns, a.rows);
  for (int64_t row = 0; row < a.rows; ++row)
    for (int64_t column = 0; column < a.columns; ++column) result(column, row) = a(row, column);
  return result;
}

/// The conjugate of the transpose; of real matrices the transpose.
template <typename T>
MatrixOf<T> adjoint(const MatrixOf<T>& a) {
  MatrixOf<T> result = transpose(a);
  for (T& element : result.elements) element = conjugate(element);
  return result;
}

/// The form of a matrix in an equation.
enum class MatrixOp { Itself, Transpose, Adjoint };

// Of real and of complex matrices; symmetric means Hermitian for the latter.

/// Eigenvalues of a symmetric matrix, ascending; a's columns become vectors.
template <typename T>
std::vector<double> diagonalize(MatrixOf<T>& a);

/// Singular values, descending; u [m, p] and v [n, p] of a [m, n] = u diag(values) v^H.
template <typename T>
std::vector<double> decomposeSingular(const MatrixOf<T>& a, MatrixOf<T>& u, MatrixOf<T>& v);

/// Orthonormal columns until the matrix, whose columns are orthonormal, is square.
template <typename T>
void completeBasis(MatrixOf<T>& columns);

/// a becomes its factor in one triangle; the 1-based row at which a is not positive definite, or 0.
template <typename T>
int64_t factorCholesky(MatrixOf<T>& a, bool isLower);

/// b becomes x with op(a) x = b.
template <typename T>
void solveTriangular(const MatrixOf<T>& a, bool isLower, MatrixOp op, bool hasUnitDiagonal, MatrixOf<T>& b);

/// Rows are exchanged for the pivot whose parts' magnitudes have the largest sum, as in LAPACK; of pivots, counted from
/// 1, entry i says with which row i was. The 1-based column of the first pivot that is 0, or 0.
template <typename T>
int64_t factorLu(MatrixOf<T>& a, std::vector<int64_t>& pivots);

/// r with a real diagonal above reflectors I - tau v v^H, and their taus; each step applies the adjoint. `columns`: as
/// geqp3 exchanges them, counted from 1; null: they stay.
template <typename T>
std::vector<T> factorQr(MatrixOf<T>& a, std::vector<int64_t>* columns);

/// c becomes the reflectors' product, or its adjoint, times c.
template <typename T>
void multiplyReflectors(const MatrixOf<T>& reflectors, const std::vector<T>& taus, bool isAdjoint, MatrixOf<T>& c);

/// h over reflectors, and their taus.
template <typename T>
std::vector<T> reduceToHessenberg(MatrixOf<T>& a);

/// Tridiagonal form, which is real, of a symmetric matrix, of which one triangle is read, over reflectors, and their
/// taus.
template <typename T>
std::vector<T> reduceToTridiagonal(MatrixOf<T>& a, bool isLower);

}  // namespace mlir::sgd::reference

#endif
