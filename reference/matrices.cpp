// Textbook algorithms (Golub and Van Loan, Matrix Computations); reflectors are those of LAPACK's larfg.
#include "reference/matrices.h"

#include <algorithm>
#include <cmath>

namespace mlir::sgd::reference {

Matrix transpose(const Matrix& a) {
  Matrix result(a.columns, a.rows);
  for (int64_t row = 0; row < a.rows; ++row)
    for (int64_t column = 0; column < a.columns; ++column) result(column, row) = a(row, column);
  return result;
}

int64_t factorCholesky(Matrix& a, bool isLower) {
  auto at = [&](int64_t row, int64_t column) -> double& { return isLower ? a(row, column) : a(column, row); };
  for (int64_t j = 0; j < a.rows; ++j) {
    double pivot = at(j, j);
    for (int64_t k = 0; k < j; ++k) pivot -= at(j, k) * at(j, k);
    if (!(pivot > 0)) return j + 1;
    at(j, j) = std::sqrt(pivot);
    for (int64_t i = j + 1; i < a.rows; ++i) {
      double sum = at(i, j);
      for (int64_t k = 0; k < j; ++k) sum -= at(i, k) * at(j, k);
      at(i, j) = sum / at(j, j);
    }
  }
  return 0;
}

void solveTriangular(const Matrix& a, bool isLower, bool isTransposed, bool hasUnitDiagonal, Matrix& b) {
  int64_t order = a.rows;
  bool isForward = isLower != isTransposed;
  for (int64_t step = 0; step < order; ++step) {
    int64_t i = isForward ? step : order - 1 - step;
    for (int64_t column = 0; column < b.columns; ++column) {
      double sum = b(i, column);
      for (int64_t done = 0; done < step; ++done) {
        int64_t k = isForward ? done : order - 1 - done;
        sum -= (isTransposed ? a(k, i) : a(i, k)) * b(k, column);
      }
      b(i, column) = hasUnitDiagonal ? sum : sum / a(i, i);
    }
  }
}

int64_t factorLu(Matrix& a, std::vector<int64_t>& pivots) {
  int64_t info = 0, steps = std::min(a.rows, a.columns);
  for (int64_t j = 0; j < steps; ++j) {
    int64_t pivot = j;
    for (int64_t i = j + 1; i < a.rows; ++i)
      if (std::fabs(a(i, j)) > std::fabs(a(pivot, j))) pivot = i;
    pivots.push_back(pivot + 1);
    if (a(pivot, j) == 0) {
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

/// The reflector I - tau v v^T, v[0] = 1, that makes x a multiple of its first unit vector: x becomes that multiple and
/// the rest of v.
static double makeReflector(std::vector<double>& x) {
  double rest = 0;
  for (size_t i = 1; i < x.size(); ++i) rest = std::hypot(rest, x[i]);
  if (rest == 0) return 0;
  double norm = std::hypot(x[0], rest), beta = x[0] >= 0 ? -norm : norm;
  double tau = (beta - x[0]) / beta;
  for (size_t i = 1; i < x.size(); ++i) x[i] /= x[0] - beta;
  x[0] = beta;
  return tau;
}

/// Rows `first` and on of columns `from` and on become the reflector times them.
static void applyLeft(Matrix& c, const std::vector<double>& v, double tau, int64_t first, int64_t from) {
  for (int64_t column = from; column < c.columns; ++column) {
    double sum = c(first, column);
    for (size_t i = 1; i < v.size(); ++i) sum += v[i] * c(first + i, column);
    c(first, column) -= tau * sum;
    for (size_t i = 1; i < v.size(); ++i) c(first + i, column) -= tau * sum * v[i];
  }
}

static void exchangeForLargest(Matrix& a, int64_t step, std::vector<int64_t>& columns) {
  auto normOf = [&](int64_t column) {
    double norm = 0;
    for (int64_t row = step; row < a.rows; ++row) norm = std::hypot(norm, a(row, column));
    return norm;
  };
  int64_t largest = step;
  for (int64_t column = step + 1; column < a.columns; ++column)
    if (normOf(column) > normOf(largest)) largest = column;
  if (largest == step) return;
  for (int64_t row = 0; row < a.rows; ++row) std::swap(a(row, step), a(row, largest));
  std::swap(columns[step], columns[largest]);
}

std::vector<double> factorQr(Matrix& a, std::vector<int64_t>* columns) {
  std::vector<double> taus;
  for (int64_t j = 0; j < std::min(a.rows, a.columns); ++j) {
    if (columns) exchangeForLargest(a, j, *columns);
    std::vector<double> v;
    for (int64_t i = j; i < a.rows; ++i) v.push_back(a(i, j));
    taus.push_back(makeReflector(v));
    for (int64_t i = j; i < a.rows; ++i) a(i, j) = v[i - j];
    applyLeft(a, v, taus.back(), j, j + 1);
  }
  return taus;
}

void multiplyReflectors(const Matrix& reflectors, const std::vector<double>& taus, bool isTransposed, Matrix& c) {
  auto count = static_cast<int64_t>(taus.size());
  for (int64_t step = 0; step < count; ++step) {
    int64_t j = isTransposed ? step : count - 1 - step;
    std::vector<double> v{1};
    for (int64_t i = j + 1; i < reflectors.rows; ++i) v.push_back(reflectors(i, j));
    applyLeft(c, v, taus[j], j, 0);
  }
}

/// a becomes h a h, for the reflector h of rows and columns `first` and on.
static void applyBothSides(Matrix& a, const std::vector<double>& v, double tau, int64_t first) {
  applyLeft(a, v, tau, first, 0);
  Matrix transposed = transpose(a);
  applyLeft(transposed, v, tau, first, 0);
  a = transpose(transposed);
}

std::vector<double> reduceToHessenberg(Matrix& a) {
  std::vector<double> taus;
  std::vector<std::vector<double>> reflectors;
  for (int64_t j = 0; j + 1 < a.rows; ++j) {
    std::vector<double> v;
    for (int64_t i = j + 1; i < a.rows; ++i) v.push_back(a(i, j));
    taus.push_back(makeReflector(v));
    applyBothSides(a, v, taus.back(), j + 1);
    reflectors.push_back(std::move(v));
  }
  for (size_t j = 0; j < reflectors.size(); ++j)
    for (size_t i = 1; i < reflectors[j].size(); ++i) a(j + 1 + i, j) = reflectors[j][i];
  return taus;
}

std::vector<double> reduceToTridiagonal(Matrix& a, bool isLower) {
  int64_t n = a.rows;
  Matrix symmetric(n, n);
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = 0; j < n; ++j) symmetric(i, j) = isLower == (i >= j) ? a(i, j) : a(j, i);
  if (isLower) {
    std::vector<double> taus = reduceToHessenberg(symmetric);
    for (int64_t i = 0; i < n; ++i)
      for (int64_t j = 0; j <= i; ++j) a(i, j) = symmetric(i, j);
    return taus;
  }
  // From the last column on: the lower form of the matrix turned around.
  Matrix turned(n, n);
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = 0; j < n; ++j) turned(i, j) = symmetric(n - 1 - i, n - 1 - j);
  std::vector<double> taus = reduceToHessenberg(turned);
  std::reverse(taus.begin(), taus.end());
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = i; j < n; ++j) a(i, j) = turned(n - 1 - i, n - 1 - j);
  return taus;
}

}  // namespace mlir::sgd::reference
