// Textbook algorithms (Golub and Van Loan, Matrix Computations); reflectors are those of LAPACK's larfg.
#include "reference/matrices.h"

#include <algorithm>
#include <cmath>

namespace mlir::sgd::reference {

template <typename T>
int64_t factorCholesky(MatrixOf<T>& a, bool isLower) {
  // The upper factor is the adjoint of the lower one.
  auto get = [&](int64_t row, int64_t column) { return isLower ? a(row, column) : conjugate(a(column, row)); };
  auto set = [&](int64_t row, int64_t column, T value) {
    isLower ? a(row, column) = value : a(column, row) = conjugate(value);
  };
  for (int64_t j = 0; j < a.rows; ++j) {
    double pivot = realPart(a(j, j));
    for (int64_t k = 0; k < j; ++k) pivot -= std::norm(get(j, k));
    if (!(pivot > 0)) return j + 1;
    a(j, j) = std::sqrt(pivot);
    for (int64_t i = j + 1; i < a.rows; ++i) {
      T sum = get(i, j);
      for (int64_t k = 0; k < j; ++k) sum -= get(i, k) * conjugate(get(j, k));
      set(i, j, sum / realPart(a(j, j)));
    }
  }
  return 0;
}

template <typename T>
void solveTriangular(const MatrixOf<T>& a, bool isLower, MatrixOp op, bool hasUnitDiagonal, MatrixOf<T>& b) {
  auto get = [&](int64_t i, int64_t k) {
    return op == MatrixOp::Itself ? a(i, k) : op == MatrixOp::Transpose ? a(k, i) : conjugate(a(k, i));
  };
  int64_t order = a.rows;
  bool isForward = isLower == (op == MatrixOp::Itself);
  for (int64_t step = 0; step < order; ++step) {
    int64_t i = isForward ? step : order - 1 - step;
    for (int64_t column = 0; column < b.columns; ++column) {
      T sum = b(i, column);
      for (int64_t done = 0; done < step; ++done) {
        int64_t k = isForward ? done : order - 1 - done;
        sum -= get(i, k) * b(k, column);
      }
      b(i, column) = hasUnitDiagonal ? sum : sum / get(i, i);
    }
  }
}

template <typename T>
int64_t factorLu(MatrixOf<T>& a, std::vector<int64_t>& pivots) {
  auto sizeOf = [](T z) { return std::fabs(realPart(z)) + std::fabs(imaginaryPart(z)); };
  int64_t info = 0, steps = std::min(a.rows, a.columns);
  for (int64_t j = 0; j < steps; ++j) {
    int64_t pivot = j;
    for (int64_t i = j + 1; i < a.rows; ++i)
      if (sizeOf(a(i, j)) > sizeOf(a(pivot, j))) pivot = i;
    pivots.push_back(pivot + 1);
    if (a(pivot, j) == 0.0) {
      if (info == 0) info = j + 1;
      continue;
    }
    for (int64_t k = 0; k < a.columns && pivot != j; ++k) std::swap(a(j, k), a(pivot, k));
    for (int64_t i = j + 1; i < a.rows; ++i) {
      a(i, j) /= a(j, j);
      for (int64_t k = j + 1; k < a.columns; ++k) a(i, k) -= a(i, j) * a(j, k);
    }
  }
  return info;
}

/// LAPACK's larfg: I - tau v v^H, v[0] = 1, whose adjoint makes x a real multiple of its first unit vector: x becomes
/// that multiple and the rest of v.
template <typename T>
static T makeReflector(std::vector<T>& x) {
  double rest = 0;
  for (size_t i = 1; i < x.size(); ++i) rest = std::hypot(rest, std::abs(x[i]));
  if (rest == 0 && imaginaryPart(x[0]) == 0) return 0;
  double norm = std::hypot(std::abs(x[0]), rest), beta = realPart(x[0]) >= 0 ? -norm : norm;
  T tau = (beta - x[0]) / beta;
  for (size_t i = 1; i < x.size(); ++i) x[i] /= x[0] - beta;
  x[0] = beta;
  return tau;
}

/// Rows `first` and on of columns `from` and on become I - tau v v^H times them.
template <typename T>
static void applyLeft(MatrixOf<T>& c, const std::vector<T>& v, T tau, int64_t first, int64_t from) {
  for (int64_t column = from; column < c.columns; ++column) {
    T sum = c(first, column);
    for (size_t i = 1; i < v.size(); ++i) sum += conjugate(v[i]) * c(first + i, column);
    c(first, column) -= tau * sum;
    for (size_t i = 1; i < v.size(); ++i) c(first + i, column) -= tau * sum * v[i];
  }
}

template <typename T>
static void exchangeForLargest(MatrixOf<T>& a, int64_t step, std::vector<int64_t>& columns) {
  auto normOf = [&](int64_t column) {
    double norm = 0;
    for (int64_t row = step; row < a.rows; ++row) norm = std::hypot(norm, std::abs(a(row, column)));
    return norm;
  };
  int64_t largest = step;
  for (int64_t column = step + 1; column < a.columns; ++column)
    if (normOf(column) > normOf(largest)) largest = column;
  if (largest == step) return;
  for (int64_t row = 0; row < a.rows; ++row) std::swap(a(row, step), a(row, largest));
  std::swap(columns[step], columns[largest]);
}

template <typename T>
std::vector<T> factorQr(MatrixOf<T>& a, std::vector<int64_t>* columns) {
  std::vector<T> taus;
  for (int64_t j = 0; j < std::min(a.rows, a.columns); ++j) {
    if (columns) exchangeForLargest(a, j, *columns);
    std::vector<T> v;
    for (int64_t i = j; i < a.rows; ++i) v.push_back(a(i, j));
    taus.push_back(makeReflector(v));
    for (int64_t i = j; i < a.rows; ++i) a(i, j) = v[i - j];
    applyLeft(a, v, conjugate(taus.back()), j, j + 1);
  }
  return taus;
}

template <typename T>
void multiplyReflectors(const MatrixOf<T>& reflectors, const std::vector<T>& taus, bool isAdjoint, MatrixOf<T>& c) {
  auto count = static_cast<int64_t>(taus.size());
  for (int64_t step = 0; step < count; ++step) {
    int64_t j = isAdjoint ? step : count - 1 - step;
    std::vector<T> v{1};
    for (int64_t i = j + 1; i < reflectors.rows; ++i) v.push_back(reflectors(i, j));
    applyLeft(c, v, isAdjoint ? conjugate(taus[j]) : taus[j], j, 0);
  }
}

/// a becomes h^H a h, for the reflector h of rows and columns `first` and on.
template <typename T>
static void applyBothSides(MatrixOf<T>& a, const std::vector<T>& v, T tau, int64_t first) {
  applyLeft(a, v, conjugate(tau), first, 0);
  MatrixOf<T> turned = adjoint(a);
  applyLeft(turned, v, conjugate(tau), first, 0);
  a = adjoint(turned);
}

template <typename T>
std::vector<T> reduceToHessenberg(MatrixOf<T>& a) {
  std::vector<T> taus;
  std::vector<std::vector<T>> reflectors;
  for (int64_t j = 0; j + 1 < a.rows; ++j) {
    std::vector<T> v;
    for (int64_t i = j + 1; i < a.rows; ++i) v.push_back(a(i, j));
    taus.push_back(makeReflector(v));
    applyBothSides(a, v, taus.back(), j + 1);
    reflectors.push_back(std::move(v));
  }
  for (size_t j = 0; j < reflectors.size(); ++j)
    for (size_t i = 1; i < reflectors[j].size(); ++i) a(j + 1 + i, j) = reflectors[j][i];
  return taus;
}

template <typename T>
std::vector<T> reduceToTridiagonal(MatrixOf<T>& a, bool isLower) {
  int64_t n = a.rows;
  MatrixOf<T> symmetric(n, n);
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = 0; j < n; ++j)
      symmetric(i, j) = i == j ? T(realPart(a(i, i))) : isLower == (i > j) ? a(i, j) : conjugate(a(j, i));
  // Of the upper form from the last column on: the lower form of the matrix turned around.
  auto turn = [&](int64_t i) { return isLower ? i : n - 1 - i; };
  MatrixOf<T> turned(n, n);
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = 0; j < n; ++j) turned(i, j) = symmetric(turn(i), turn(j));
  std::vector<T> taus = reduceToHessenberg(turned);
  if (!isLower) std::reverse(taus.begin(), taus.end());
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = 0; j <= i; ++j) a(turn(i), turn(j)) = turned(i, j);
  return taus;
}

template int64_t factorCholesky(Matrix&, bool);
template int64_t factorCholesky(ComplexMatrix&, bool);
template void solveTriangular(const Matrix&, bool, MatrixOp, bool, Matrix&);
template void solveTriangular(const ComplexMatrix&, bool, MatrixOp, bool, ComplexMatrix&);
template int64_t factorLu(Matrix&, std::vector<int64_t>&);
template int64_t factorLu(ComplexMatrix&, std::vector<int64_t>&);
template std::vector<double> factorQr(Matrix&, std::vector<int64_t>*);
template std::vector<ComplexNumber> factorQr(ComplexMatrix&, std::vector<int64_t>*);
template void multiplyReflectors(const Matrix&, const std::vector<double>&, bool, Matrix&);
template void multiplyReflectors(const ComplexMatrix&, const std::vector<ComplexNumber>&, bool, ComplexMatrix&);
template std::vector<double> reduceToHessenberg(Matrix&);
template std::vector<ComplexNumber> reduceToHessenberg(ComplexMatrix&);
template std::vector<double> reduceToTridiagonal(Matrix&, bool);
template std::vector<ComplexNumber> reduceToTridiagonal(ComplexMatrix&, bool);

}  // namespace mlir::sgd::reference
