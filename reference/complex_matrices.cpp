// The algorithms of matrices.cpp, with conjugates where they belong.
#include "reference/complex_matrices.h"

#include <algorithm>
#include <cmath>

namespace mlir::sgd::reference {

ComplexMatrix transpose(const ComplexMatrix& a) {
  ComplexMatrix result(a.columns, a.rows);
  for (int64_t row = 0; row < a.rows; ++row)
    for (int64_t column = 0; column < a.columns; ++column) result(column, row) = a(row, column);
  return result;
}

ComplexMatrix adjoint(const ComplexMatrix& a) {
  ComplexMatrix result = transpose(a);
  for (ComplexNumber& element : result.elements) element = std::conj(element);
  return result;
}

int64_t factorCholesky(ComplexMatrix& a, bool isLower) {
  // The upper factor is the adjoint of the lower one.
  auto get = [&](int64_t row, int64_t column) { return isLower ? a(row, column) : std::conj(a(column, row)); };
  auto set = [&](int64_t row, int64_t column, ComplexNumber value) {
    isLower ? a(row, column) = value : a(column, row) = std::conj(value);
  };
  for (int64_t j = 0; j < a.rows; ++j) {
    double pivot = a(j, j).real();
    for (int64_t k = 0; k < j; ++k) pivot -= std::norm(get(j, k));
    if (!(pivot > 0)) return j + 1;
    a(j, j) = std::sqrt(pivot);
    for (int64_t i = j + 1; i < a.rows; ++i) {
      ComplexNumber sum = get(i, j);
      for (int64_t k = 0; k < j; ++k) sum -= get(i, k) * std::conj(get(j, k));
      set(i, j, sum / a(j, j).real());
    }
  }
  return 0;
}

void solveTriangular(const ComplexMatrix& a, bool isLower, ComplexOf op, bool hasUnitDiagonal, ComplexMatrix& b) {
  auto get = [&](int64_t i, int64_t k) {
    return op == ComplexOf::Itself ? a(i, k) : op == ComplexOf::Transpose ? a(k, i) : std::conj(a(k, i));
  };
  int64_t order = a.rows;
  bool isForward = isLower == (op == ComplexOf::Itself);
  for (int64_t step = 0; step < order; ++step) {
    int64_t i = isForward ? step : order - 1 - step;
    for (int64_t column = 0; column < b.columns; ++column) {
      ComplexNumber sum = b(i, column);
      for (int64_t done = 0; done < step; ++done) {
        int64_t k = isForward ? done : order - 1 - done;
        sum -= get(i, k) * b(k, column);
      }
      b(i, column) = hasUnitDiagonal ? sum : sum / get(i, i);
    }
  }
}

int64_t factorLu(ComplexMatrix& a, std::vector<int64_t>& pivots) {
  auto sizeOf = [](ComplexNumber z) { return std::fabs(z.real()) + std::fabs(z.imag()); };
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
static ComplexNumber makeReflector(std::vector<ComplexNumber>& x) {
  double rest = 0;
  for (size_t i = 1; i < x.size(); ++i) rest = std::hypot(rest, std::abs(x[i]));
  if (rest == 0 && x[0].imag() == 0) return 0;
  double norm = std::hypot(std::abs(x[0]), rest), beta = x[0].real() >= 0 ? -norm : norm;
  ComplexNumber tau = (beta - x[0]) / beta;
  for (size_t i = 1; i < x.size(); ++i) x[i] /= x[0] - beta;
  x[0] = beta;
  return tau;
}

/// Rows `first` and on of columns `from` and on become I - tau v v^H times them.
static void applyLeft(ComplexMatrix& c, const std::vector<ComplexNumber>& v, ComplexNumber tau, int64_t first,
                      int64_t from) {
  for (int64_t column = from; column < c.columns; ++column) {
    ComplexNumber sum = c(first, column);
    for (size_t i = 1; i < v.size(); ++i) sum += std::conj(v[i]) * c(first + i, column);
    c(first, column) -= tau * sum;
    for (size_t i = 1; i < v.size(); ++i) c(first + i, column) -= tau * sum * v[i];
  }
}

static void exchangeForLargest(ComplexMatrix& a, int64_t step, std::vector<int64_t>& columns) {
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

std::vector<ComplexNumber> factorQr(ComplexMatrix& a, std::vector<int64_t>* columns) {
  std::vector<ComplexNumber> taus;
  for (int64_t j = 0; j < std::min(a.rows, a.columns); ++j) {
    if (columns) exchangeForLargest(a, j, *columns);
    std::vector<ComplexNumber> v;
    for (int64_t i = j; i < a.rows; ++i) v.push_back(a(i, j));
    taus.push_back(makeReflector(v));
    for (int64_t i = j; i < a.rows; ++i) a(i, j) = v[i - j];
    applyLeft(a, v, std::conj(taus.back()), j, j + 1);
  }
  return taus;
}

void multiplyReflectors(const ComplexMatrix& reflectors, const std::vector<ComplexNumber>& taus, bool isAdjoint,
                        ComplexMatrix& c) {
  auto count = static_cast<int64_t>(taus.size());
  for (int64_t step = 0; step < count; ++step) {
    int64_t j = isAdjoint ? step : count - 1 - step;
    std::vector<ComplexNumber> v{1};
    for (int64_t i = j + 1; i < reflectors.rows; ++i) v.push_back(reflectors(i, j));
    applyLeft(c, v, isAdjoint ? std::conj(taus[j]) : taus[j], j, 0);
  }
}

/// a becomes h^H a h, for the reflector h of rows and columns `first` and on.
static void applyBothSides(ComplexMatrix& a, const std::vector<ComplexNumber>& v, ComplexNumber tau, int64_t first) {
  applyLeft(a, v, std::conj(tau), first, 0);
  ComplexMatrix turned = adjoint(a);
  applyLeft(turned, v, std::conj(tau), first, 0);
  a = adjoint(turned);
}

std::vector<ComplexNumber> reduceToHessenberg(ComplexMatrix& a) {
  std::vector<ComplexNumber> taus;
  std::vector<std::vector<ComplexNumber>> reflectors;
  for (int64_t j = 0; j + 1 < a.rows; ++j) {
    std::vector<ComplexNumber> v;
    for (int64_t i = j + 1; i < a.rows; ++i) v.push_back(a(i, j));
    taus.push_back(makeReflector(v));
    applyBothSides(a, v, taus.back(), j + 1);
    reflectors.push_back(std::move(v));
  }
  for (size_t j = 0; j < reflectors.size(); ++j)
    for (size_t i = 1; i < reflectors[j].size(); ++i) a(j + 1 + i, j) = reflectors[j][i];
  return taus;
}

std::vector<ComplexNumber> reduceToTridiagonal(ComplexMatrix& a, bool isLower) {
  int64_t n = a.rows;
  ComplexMatrix hermitian(n, n);
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = 0; j < n; ++j)
      hermitian(i, j) = i == j ? a(i, i).real() : isLower == (i > j) ? a(i, j) : std::conj(a(j, i));
  // Of the upper form from the last column on: the lower form of the matrix turned around.
  auto turn = [&](int64_t i) { return isLower ? i : n - 1 - i; };
  ComplexMatrix turned(n, n);
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = 0; j < n; ++j) turned(i, j) = hermitian(turn(i), turn(j));
  std::vector<ComplexNumber> taus = reduceToHessenberg(turned);
  if (!isLower) std::reverse(taus.begin(), taus.end());
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = 0; j <= i; ++j) a(turn(i), turn(j)) = turned(i, j);
  return taus;
}

}  // namespace mlir::sgd::reference
