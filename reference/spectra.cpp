// Jacobi's iterations: slow, accurate, and nothing like LAPACK's.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "reference/matrices.h"

namespace mlir::sgd::reference {
namespace {

constexpr int kMostSweeps = 60;
constexpr double kJacobiTolerance = 1e-15;

/// The factor of magnitude 1 that complex products of columns have beside a real number.
double phaseOf(double) { return 1; }
ComplexNumber phaseOf(ComplexNumber z) { return z / std::abs(z); }

/// Columns p and q become c p - s q and s p + c q, q divided by its phase first.
template <typename T>
void rotateColumns(MatrixOf<T>& a, int64_t p, int64_t q, double c, double s, T phase) {
  for (int64_t row = 0; row < a.rows; ++row) {
    T x = a(row, p), y = a(row, q) * conjugate(phase);
    a(row, p) = c * x - s * y;
    a(row, q) = s * x + c * y;
  }
}

template <typename T>
T dotColumns(const MatrixOf<T>& a, int64_t p, int64_t q) {
  T sum = 0;
  for (int64_t row = 0; row < a.rows; ++row) sum += conjugate(a(row, p)) * a(row, q);
  return sum;
}

/// Cosine and sine of the rotation that makes columns of these products orthogonal.
std::pair<double, double> getRotation(double pp, double qq, double pq) {
  double zeta = (qq - pp) / (2 * pq);
  double t = (zeta >= 0 ? 1 : -1) / (std::fabs(zeta) + std::hypot(1, zeta));
  double c = 1 / std::hypot(1, t);
  return {c, c * t};
}

/// Columns of `a` in that order.
template <typename T>
MatrixOf<T> permuteColumns(const MatrixOf<T>& a, const std::vector<int64_t>& order) {
  MatrixOf<T> result(a.rows, static_cast<int64_t>(order.size()));
  for (int64_t row = 0; row < a.rows; ++row)
    for (size_t column = 0; column < order.size(); ++column) result(row, column) = a(row, order[column]);
  return result;
}

/// One-sided Jacobi: rotates columns of u [m, n], m >= n, until they are orthogonal; v collects the rotations.
template <typename T>
void orthogonalize(MatrixOf<T>& u, MatrixOf<T>& v) {
  for (int sweep = 0; sweep < kMostSweeps; ++sweep) {
    bool isDone = true;
    for (int64_t p = 0; p < u.columns; ++p)
      for (int64_t q = p + 1; q < u.columns; ++q) {
        double pp = realPart(dotColumns(u, p, p)), qq = realPart(dotColumns(u, q, q));
        T pq = dotColumns(u, p, q);
        if (std::abs(pq) <= kJacobiTolerance * std::sqrt(pp * qq) || pq == T(0)) continue;
        isDone = false;
        T phase = phaseOf(pq);
        auto [c, s] = getRotation(pp, qq, realPart(pq * conjugate(phase)));
        rotateColumns(u, p, q, c, s, phase);
        rotateColumns(v, p, q, c, s, phase);
      }
    if (isDone) return;
  }
}

}  // namespace

template <typename T>
std::vector<double> diagonalize(MatrixOf<T>& a) {
  MatrixOf<T> vectors = identity<T>(a.rows);
  double scale = 0;
  for (T element : a.elements) scale = std::hypot(scale, std::abs(element));
  for (int sweep = 0; sweep < kMostSweeps; ++sweep) {
    bool isDone = true;
    for (int64_t p = 0; p < a.rows; ++p)
      for (int64_t q = p + 1; q < a.rows; ++q) {
        T pq = a(p, q);
        if (std::abs(pq) <= kJacobiTolerance * scale * 1e-2) continue;
        isDone = false;
        T phase = phaseOf(pq);
        auto [c, s] = getRotation(realPart(a(p, p)), realPart(a(q, q)), realPart(pq * conjugate(phase)));
        rotateColumns(a, p, q, c, s, phase);
        a = adjoint(a);
        rotateColumns(a, p, q, c, s, phase);
        rotateColumns(vectors, p, q, c, s, phase);
      }
    if (isDone) break;
  }
  std::vector<int64_t> order(a.rows);
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(),
            [&](int64_t i, int64_t j) { return std::pair(realPart(a(i, i)), i) < std::pair(realPart(a(j, j)), j); });
  std::vector<double> values;
  for (int64_t i : order) values.push_back(realPart(a(i, i)));
  a = permuteColumns(vectors, order);
  return values;
}

template <typename T>
std::vector<double> decomposeSingular(const MatrixOf<T>& a, MatrixOf<T>& u, MatrixOf<T>& v) {
  if (a.rows < a.columns) return decomposeSingular(adjoint(a), v, u);
  u = a;
  v = identity<T>(a.columns);
  orthogonalize(u, v);
  std::vector<double> norms;
  for (int64_t column = 0; column < u.columns; ++column)
    norms.push_back(std::sqrt(realPart(dotColumns(u, column, column))));
  std::vector<int64_t> order(norms.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(),
            [&](int64_t i, int64_t j) { return std::pair(-norms[i], i) < std::pair(-norms[j], j); });
  u = permuteColumns(u, order);
  v = permuteColumns(v, order);
  std::vector<double> values;
  for (int64_t i : order) values.push_back(norms[i]);
  int64_t rank = 0;
  for (; rank < u.columns && values[rank] > 0; ++rank)
    for (int64_t row = 0; row < u.rows; ++row) u(row, rank) /= values[rank];
  if (rank == u.columns) return values;
  // Columns of singular values 0: any that complete the basis.
  std::vector<int64_t> kept(rank);
  std::iota(kept.begin(), kept.end(), 0);
  MatrixOf<T> basis = permuteColumns(u, kept);
  completeBasis(basis);
  std::vector<int64_t> first(u.columns);
  std::iota(first.begin(), first.end(), 0);
  u = permuteColumns(basis, first);
  return values;
}

template <typename T>
void completeBasis(MatrixOf<T>& columns) {
  auto dot = [](const std::vector<T>& x, const std::vector<T>& y) {
    T sum = 0;
    for (size_t i = 0; i < x.size(); ++i) sum += conjugate(x[i]) * y[i];
    return sum;
  };
  std::vector<std::vector<T>> basis;
  for (int64_t column = 0; column < columns.columns; ++column) {
    basis.emplace_back();
    for (int64_t row = 0; row < columns.rows; ++row) basis.back().push_back(columns(row, column));
  }
  for (int64_t unit = 0; unit < columns.rows && static_cast<int64_t>(basis.size()) < columns.rows; ++unit) {
    std::vector<T> candidate(columns.rows, T(0));
    candidate[unit] = 1;
    // Twice: once leaves what rounding has left.
    for (int pass = 0; pass < 2; ++pass)
      for (const std::vector<T>& known : basis) {
        T part = dot(known, candidate);
        for (size_t i = 0; i < candidate.size(); ++i) candidate[i] -= part * known[i];
      }
    double norm = std::sqrt(realPart(dot(candidate, candidate)));
    // The unit vectors that are furthest from the basis are enough: their squared distances add up to what is missing.
    auto missing = static_cast<double>(columns.rows - static_cast<int64_t>(basis.size()));
    if (norm * norm < missing / (2.0 * static_cast<double>(columns.rows))) continue;
    for (T& element : candidate) element /= norm;
    basis.push_back(std::move(candidate));
  }
  MatrixOf<T> result(columns.rows, static_cast<int64_t>(basis.size()));
  for (int64_t row = 0; row < result.rows; ++row)
    for (int64_t column = 0; column < result.columns; ++column) result(row, column) = basis[column][row];
  columns = result;
}

template std::vector<double> diagonalize(Matrix&);
template std::vector<double> diagonalize(ComplexMatrix&);
template std::vector<double> decomposeSingular(const Matrix&, Matrix&, Matrix&);
template std::vector<double> decomposeSingular(const ComplexMatrix&, ComplexMatrix&, ComplexMatrix&);
template void completeBasis(Matrix&);
template void completeBasis(ComplexMatrix&);

}  // namespace mlir::sgd::reference
