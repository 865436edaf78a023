// Jacobi's iterations: slow, accurate, and nothing like LAPACK's.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "reference/matrices.h"

namespace mlir::sgd::reference {
namespace {

constexpr int kMostSweeps = 60;
constexpr double kTolerance = 1e-15;

/// Columns p and q become c p - s q and s p + c q.
void rotateColumns(Matrix& a, int64_t p, int64_t q, double c, double s) {
  for (int64_t row = 0; row < a.rows; ++row) {
    double x = a(row, p), y = a(row, q);
    a(row, p) = c * x - s * y;
    a(row, q) = s * x + c * y;
  }
}

double dotColumns(const Matrix& a, int64_t p, int64_t q) {
  double sum = 0;
  for (int64_t row = 0; row < a.rows; ++row) sum += a(row, p) * a(row, q);
  return sum;
}

/// Cosine and sine of the rotation that makes columns of these products orthogonal.
std::pair<double, double> getRotation(double pp, double qq, double pq) {
  double zeta = (qq - pp) / (2 * pq);
  double t = (zeta >= 0 ? 1 : -1) / (std::fabs(zeta) + std::hypot(1, zeta));
  double c = 1 / std::hypot(1, t);
  return {c, c * t};
}

Matrix identity(int64_t size) {
  Matrix result(size, size);
  for (int64_t i = 0; i < size; ++i) result(i, i) = 1;
  return result;
}

/// Columns of `a` in that order.
Matrix permuteColumns(const Matrix& a, const std::vector<int64_t>& order) {
  Matrix result(a.rows, static_cast<int64_t>(order.size()));
  for (int64_t row = 0; row < a.rows; ++row)
    for (size_t column = 0; column < order.size(); ++column) result(row, column) = a(row, order[column]);
  return result;
}

/// One-sided Jacobi: rotates columns of u [m, n], m >= n, until they are orthogonal; v collects the rotations.
void orthogonalize(Matrix& u, Matrix& v) {
  for (int sweep = 0; sweep < kMostSweeps; ++sweep) {
    bool isDone = true;
    for (int64_t p = 0; p < u.columns; ++p)
      for (int64_t q = p + 1; q < u.columns; ++q) {
        double pp = dotColumns(u, p, p), qq = dotColumns(u, q, q), pq = dotColumns(u, p, q);
        if (std::fabs(pq) <= kTolerance * std::sqrt(pp * qq) || pq == 0) continue;
        isDone = false;
        auto [c, s] = getRotation(pp, qq, pq);
        rotateColumns(u, p, q, c, s);
        rotateColumns(v, p, q, c, s);
      }
    if (isDone) return;
  }
}

}  // namespace

std::vector<double> diagonalize(Matrix& a) {
  Matrix vectors = identity(a.rows);
  double scale = 0;
  for (double element : a.elements) scale = std::hypot(scale, element);
  for (int sweep = 0; sweep < kMostSweeps; ++sweep) {
    bool isDone = true;
    for (int64_t p = 0; p < a.rows; ++p)
      for (int64_t q = p + 1; q < a.rows; ++q) {
        if (std::fabs(a(p, q)) <= kTolerance * scale * 1e-2) continue;
        isDone = false;
        auto [c, s] = getRotation(a(p, p), a(q, q), a(p, q));
        rotateColumns(a, p, q, c, s);
        a = transpose(a);
        rotateColumns(a, p, q, c, s);
        rotateColumns(vectors, p, q, c, s);
      }
    if (isDone) break;
  }
  std::vector<int64_t> order(a.rows);
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(),
            [&](int64_t i, int64_t j) { return std::pair(a(i, i), i) < std::pair(a(j, j), j); });
  std::vector<double> values;
  for (int64_t i : order) values.push_back(a(i, i));
  a = permuteColumns(vectors, order);
  return values;
}

std::vector<double> decomposeSingular(const Matrix& a, Matrix& u, Matrix& v) {
  if (a.rows < a.columns) return decomposeSingular(transpose(a), v, u);
  u = a;
  v = identity(a.columns);
  orthogonalize(u, v);
  std::vector<double> norms;
  for (int64_t column = 0; column < u.columns; ++column) norms.push_back(std::sqrt(dotColumns(u, column, column)));
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
  Matrix basis = permuteColumns(u, kept);
  completeBasis(basis);
  std::vector<int64_t> first(u.columns);
  std::iota(first.begin(), first.end(), 0);
  u = permuteColumns(basis, first);
  return values;
}

void completeBasis(Matrix& columns) {
  std::vector<std::vector<double>> basis;
  for (int64_t column = 0; column < columns.columns; ++column) {
    basis.emplace_back();
    for (int64_t row = 0; row < columns.rows; ++row) basis.back().push_back(columns(row, column));
  }
  for (int64_t unit = 0; unit < columns.rows && static_cast<int64_t>(basis.size()) < columns.rows; ++unit) {
    std::vector<double> candidate(columns.rows, 0.0);
    candidate[unit] = 1;
    // Twice: once leaves what rounding has left.
    for (int pass = 0; pass < 2; ++pass)
      for (const std::vector<double>& known : basis) {
        double dot = std::inner_product(known.begin(), known.end(), candidate.begin(), 0.0);
        for (size_t i = 0; i < candidate.size(); ++i) candidate[i] -= dot * known[i];
      }
    double norm = std::sqrt(std::inner_product(candidate.begin(), candidate.end(), candidate.begin(), 0.0));
    // The unit vectors that are furthest from the basis are enough: their squared distances add up to what is missing.
    auto missing = static_cast<double>(columns.rows - static_cast<int64_t>(basis.size()));
    if (norm * norm < missing / (2.0 * static_cast<double>(columns.rows))) continue;
    for (double& element : candidate) element /= norm;
    basis.push_back(std::move(candidate));
  }
  Matrix result(columns.rows, static_cast<int64_t>(basis.size()));
  for (int64_t row = 0; row < result.rows; ++row)
    for (int64_t column = 0; column < result.columns; ++column) result(row, column) = basis[column][row];
  columns = result;
}

}  // namespace mlir::sgd::reference
