// Shifted QR iterations on the leading block that is left (Golub and Van Loan, Matrix Computations, 7.5), each with a
// whole factorization: n^3 per step, where LAPACK's bulges take n^2.
#include "reference/schur.h"

#include <algorithm>
#include <cmath>

namespace mlir::sgd::reference {
namespace {

constexpr int kMostSteps = 400;
constexpr int kStepsOfUsualShift = 10;  // so many, then one step with another shift: some matrices are fixed points
constexpr double kSchurTolerance = 1e-16;

template <typename T>
MatrixOf<T> multiply(const MatrixOf<T>& a, const MatrixOf<T>& b) {
  MatrixOf<T> c(a.rows, b.columns);
  for (int64_t i = 0; i < a.rows; ++i)
    for (int64_t k = 0; k < a.columns; ++k)
      for (int64_t j = 0; j < b.columns; ++j) c(i, j) += a(i, k) * b(k, j);
  return c;
}

template <typename T>
double normOf(const MatrixOf<T>& a) {
  double norm = 0;
  for (T element : a.elements) norm = std::hypot(norm, std::abs(element));
  return norm;
}

/// The leading block of `a`, of that size.
template <typename T>
MatrixOf<T> getLeading(const MatrixOf<T>& a, int64_t size) {
  MatrixOf<T> block(size, size);
  for (int64_t i = 0; i < size; ++i)
    for (int64_t j = 0; j < size; ++j) block(i, j) = a(i, j);
  return block;
}

/// Rows `first` and on of t become q^H of them, columns of t and z those times q.
template <typename T>
void applySimilarity(Schur<T>& schur, const MatrixOf<T>& q, int64_t first) {
  MatrixOf<T> whole = identity<T>(schur.t.rows);
  for (int64_t i = 0; i < q.rows; ++i)
    for (int64_t j = 0; j < q.columns; ++j) whole(first + i, first + j) = q(i, j);
  schur.t = multiply(multiply(adjoint(whole), schur.t), whole);
  schur.z = multiply(schur.z, whole);
}

/// One step: by the orthogonal factor of `shifted`, a polynomial of t's leading block.
template <typename T>
void applyStep(Schur<T>& schur, MatrixOf<T> shifted) {
  auto taus = factorQr(shifted, nullptr);
  MatrixOf<T> q = identity<T>(shifted.rows);
  multiplyReflectors(shifted, taus, false, q);
  applySimilarity(schur, q, 0);
}

/// Whether rows `first` to `size` of t are 0, but for rounding, in the columns before; then they become 0.
template <typename T>
bool deflate(Schur<T>& schur, int64_t first, int64_t size, double scale) {
  for (int64_t row = first; row < size; ++row)
    for (int64_t column = 0; column < first; ++column)
      if (!(std::abs(schur.t(row, column)) <= kSchurTolerance * scale)) return false;
  for (int64_t row = first; row < size; ++row)
    for (int64_t column = 0; column < first; ++column) schur.t(row, column) = 0;
  return true;
}

/// The eigenvalue of the block of rows i and i + 1 that is nearer to its last element.
ComplexNumber getNearerValue(ComplexNumber a, ComplexNumber b, ComplexNumber c, ComplexNumber d) {
  ComplexNumber half = (a - d) / 2.0, root = std::sqrt(half * half + b * c), middle = (a + d) / 2.0;
  return std::abs(middle + root - d) < std::abs(middle - root - d) ? middle + root : middle - root;
}

/// Makes the block of rows i and i + 1 triangular where its eigenvalues are real, and adds both to the values, which
/// are collected from the last one on.
void finishBlock(Schur<double>& schur, int64_t i) {
  double a = schur.t(i, i), b = schur.t(i, i + 1), c = schur.t(i + 1, i), d = schur.t(i + 1, i + 1);
  double half = (a - d) / 2, discriminant = half * half + b * c;
  if (discriminant < 0) {
    double root = std::sqrt(-discriminant);
    schur.values.push_back({(a + d) / 2, -root});
    schur.values.push_back({(a + d) / 2, root});
    return;
  }
  // A vector of the value that is farther from d: a difference without cancellation.
  double value = (a + d) / 2 + (half >= 0 ? 1 : -1) * std::sqrt(discriminant);
  double x = value - d, y = c;
  if (x == 0 && y == 0) x = 1;
  double norm = std::hypot(x, y);
  Matrix q(2, 2);
  q(0, 0) = q(1, 1) = x / norm;
  q(1, 0) = y / norm;
  q(0, 1) = -y / norm;
  applySimilarity(schur, q, i);
  schur.t(i + 1, i) = 0;
  schur.values.push_back(schur.t(i + 1, i + 1));
  schur.values.push_back(schur.t(i, i));
}

}  // namespace

Schur<ComplexNumber> decomposeSchur(const ComplexMatrix& a) {
  Schur<ComplexNumber> schur{a, identity<ComplexNumber>(a.rows), {}};
  double scale = normOf(a);
  int64_t size = a.rows;
  for (int step = 1; size > 0; ++step) {
    if (size == 1 || deflate(schur, size - 1, size, scale)) {
      --size;
      schur.values.push_back(schur.t(size, size));
      step = 0;
      continue;
    }
    schur.hasConverged = step < kMostSteps;
    if (!schur.hasConverged) return schur;
    const ComplexMatrix& t = schur.t;
    ComplexNumber shift =
        getNearerValue(t(size - 2, size - 2), t(size - 2, size - 1), t(size - 1, size - 2), t(size - 1, size - 1));
    if (step % kStepsOfUsualShift == 0) shift += std::abs(t(size - 1, size - 2)) + scale / step;
    ComplexMatrix shifted = getLeading(t, size);
    for (int64_t i = 0; i < size; ++i) shifted(i, i) -= shift;
    applyStep(schur, shifted);
  }
  std::reverse(schur.values.begin(), schur.values.end());
  return schur;
}

Schur<double> decomposeSchur(const Matrix& a) {
  Schur<double> schur{a, identity<double>(a.rows), {}};
  double scale = normOf(a);
  int64_t size = a.rows;
  for (int step = 1; size > 0; ++step) {
    bool isOne = size == 1 || deflate(schur, size - 1, size, scale);
    if (isOne || size == 2 || deflate(schur, size - 2, size, scale)) {
      if (isOne)
        schur.values.push_back(schur.t(size - 1, size - 1));
      else
        finishBlock(schur, size - 2);
      size -= isOne ? 1 : 2;
      step = 0;
      continue;
    }
    schur.hasConverged = step < kMostSteps;
    if (!schur.hasConverged) return schur;
    const Matrix& t = schur.t;
    // Both eigenvalues of the last block at once: their sum and product are real.
    double sum = t(size - 2, size - 2) + t(size - 1, size - 1);
    double product = t(size - 2, size - 2) * t(size - 1, size - 1) - t(size - 2, size - 1) * t(size - 1, size - 2);
    if (step % kStepsOfUsualShift == 0) sum += scale / step;
    Matrix block = getLeading(t, size), shifted = multiply(block, block);
    for (size_t i = 0; i < shifted.elements.size(); ++i) shifted.elements[i] -= sum * block.elements[i];
    for (int64_t i = 0; i < size; ++i) shifted(i, i) += product;
    applyStep(schur, shifted);
  }
  std::reverse(schur.values.begin(), schur.values.end());
  return schur;
}

/// Columns of norm 1 whose largest element is real and positive.
static void normalizeColumns(ComplexMatrix& vectors) {
  for (int64_t column = 0; column < vectors.columns; ++column) {
    double norm = 0;
    ComplexNumber largest = 0;
    for (int64_t row = 0; row < vectors.rows; ++row) {
      ComplexNumber element = vectors(row, column);
      norm = std::hypot(norm, std::abs(element));
      if (std::abs(element) > std::abs(largest)) largest = element;
    }
    ComplexNumber factor = std::conj(largest) / (std::abs(largest) * norm);
    for (int64_t row = 0; row < vectors.rows; ++row) vectors(row, column) *= factor;
  }
}

Eigenvectors getEigenvectors(const ComplexMatrix& a) {
  Schur<ComplexNumber> schur = decomposeSchur(a);
  int64_t n = a.rows;
  Eigenvectors result{schur.values, ComplexMatrix(n, n), ComplexMatrix(n, n), schur.hasConverged};
  if (!schur.hasConverged) return result;
  const ComplexMatrix& t = schur.t;
  double least = std::max(normOf(a) * kSchurTolerance, 1e-300);
  // Equal values: as LAPACK, a vector of a neighbouring matrix.
  auto divide = [&](ComplexNumber x, ComplexNumber y) { return x / (std::abs(y) < least ? least : y); };
  ComplexMatrix right = identity<ComplexNumber>(n), left = right;
  for (int64_t k = 0; k < n; ++k) {
    for (int64_t i = k - 1; i >= 0; --i) {
      ComplexNumber sum = 0;
      for (int64_t j = i + 1; j <= k; ++j) sum += t(i, j) * right(j, k);
      right(i, k) = divide(-sum, t(i, i) - t(k, k));
    }
    for (int64_t i = k + 1; i < n; ++i) {
      ComplexNumber sum = 0;
      for (int64_t j = k; j < i; ++j) sum += std::conj(left(j, k)) * t(j, i);
      left(i, k) = std::conj(divide(-sum, t(i, i) - t(k, k)));
    }
  }
  result.right = multiply(schur.z, right);
  result.left = multiply(schur.z, left);
  normalizeColumns(result.right);
  normalizeColumns(result.left);
  return result;
}

}  // namespace mlir::sgd::reference
