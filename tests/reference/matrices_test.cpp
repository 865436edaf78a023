// The evaluator's linear algebra by the identities that define each decomposition.
#include "reference/matrices.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>

namespace mlir::sgd::reference {
namespace {

Matrix matrix(int64_t rows, int64_t columns, const std::vector<double>& elements) {
  Matrix result(rows, columns);
  result.elements = elements;
  return result;
}

Matrix multiply(const Matrix& a, const Matrix& b) {
  Matrix c(a.rows, b.columns);
  for (int64_t i = 0; i < a.rows; ++i)
    for (int64_t j = 0; j < b.columns; ++j)
      for (int64_t k = 0; k < a.columns; ++k) c(i, j) += a(i, k) * b(k, j);
  return c;
}

/// `a` with what lies on the other side of the diagonal set to 0.
Matrix triangle(Matrix a, bool isLower) {
  for (int64_t i = 0; i < a.rows; ++i)
    for (int64_t j = 0; j < a.columns; ++j)
      if (isLower ? j > i : j < i) a(i, j) = 0;
  return a;
}

void expectNear(const Matrix& a, const Matrix& b) {
  ASSERT_EQ(a.rows, b.rows);
  ASSERT_EQ(a.columns, b.columns);
  for (size_t i = 0; i < a.elements.size(); ++i) EXPECT_NEAR(a.elements[i], b.elements[i], 1e-12) << "element " << i;
}

const Matrix kPositive = matrix(3, 3, {4, 2, -2, 2, 5, 1, -2, 1, 6});
const Matrix kGeneral = matrix(3, 3, {0, 2, 1, 4, -1, 3, 2, 5, -2});

TEST(Matrices, CholeskyFactorsTheMatrix) {
  for (bool isLower : {true, false}) {
    Matrix factor = kPositive;
    ASSERT_EQ(factorCholesky(factor, isLower), 0);
    Matrix part = triangle(factor, isLower);
    expectNear(isLower ? multiply(part, transpose(part)) : multiply(transpose(part), part), kPositive);
  }
}

TEST(Matrices, CholeskyNamesTheRowThatIsNotPositive) {
  Matrix a = matrix(3, 3, {1, 2, 0, 2, 4, 0, 0, 0, 1});  // its second leading minor is 0
  EXPECT_EQ(factorCholesky(a, /*isLower=*/true), 2);
}

TEST(Matrices, TriangularSolveInAllForms) {
  const Matrix b = matrix(3, 2, {1, 2, 3, 4, 5, 6});
  for (bool isLower : {true, false})
    for (bool isTransposed : {true, false})
      for (bool hasUnitDiagonal : {true, false}) {
        Matrix a = triangle(kPositive, isLower);
        if (hasUnitDiagonal)
          for (int64_t i = 0; i < 3; ++i) a(i, i) = 1;
        Matrix x = b;
        // Reads one triangle only.
        MatrixOp op = isTransposed ? MatrixOp::Transpose : MatrixOp::Itself;
        solveTriangular(kPositive, isLower, op, hasUnitDiagonal, x);
        expectNear(multiply(isTransposed ? transpose(a) : a, x), b);
      }
}

TEST(Matrices, LuExchangesRows) {
  Matrix a = kGeneral;
  std::vector<int64_t> pivots;
  ASSERT_EQ(factorLu(a, pivots), 0);
  EXPECT_EQ(pivots.front(), 2);  // the first column's largest is in the second row
  Matrix lower = triangle(a, /*isLower=*/true), upper = triangle(a, /*isLower=*/false);
  for (int64_t i = 0; i < 3; ++i) lower(i, i) = 1;
  Matrix permuted = kGeneral;
  for (int64_t i = 0; i < 3; ++i)
    for (int64_t j = 0; j < 3; ++j) std::swap(permuted(i, j), permuted(pivots[i] - 1, j));
  expectNear(multiply(lower, upper), permuted);
}

TEST(Matrices, LuNamesTheFirstPivotThatIsZero) {
  Matrix a = matrix(2, 2, {1, 2, 2, 4});
  std::vector<int64_t> pivots;
  EXPECT_EQ(factorLu(a, pivots), 2);
}

TEST(Matrices, QrOfTallMatrices) {
  const Matrix tall = matrix(4, 2, {1, 2, 3, 4, 5, 6, 7, 9});
  Matrix a = tall;
  std::vector<double> taus = factorQr(a, nullptr);
  Matrix q(4, 4);
  for (int64_t i = 0; i < 4; ++i) q(i, i) = 1;
  multiplyReflectors(a, taus, /*isAdjoint=*/false, q);
  Matrix identity(4, 4);
  for (int64_t i = 0; i < 4; ++i) identity(i, i) = 1;
  expectNear(multiply(transpose(q), q), identity);
  expectNear(multiply(q, triangle(a, /*isLower=*/false)), tall);
  Matrix back = tall;
  multiplyReflectors(a, taus, /*isAdjoint=*/true, back);
  expectNear(back, triangle(a, /*isLower=*/false));
}

TEST(Matrices, PivotedQrTakesTheLongestColumnFirst) {
  const Matrix wide = matrix(2, 3, {1, 0, 3, 1, 2, 4});
  Matrix a = wide;
  std::vector<int64_t> columns = {1, 2, 3};
  factorQr(a, &columns);
  EXPECT_EQ(columns.front(), 3);
  EXPECT_NEAR(std::abs(a(0, 0)), 5, 1e-12);
  EXPECT_GE(std::abs(a(0, 0)), std::abs(a(1, 1)));
}

TEST(Matrices, EigenvectorsOfSymmetricMatrices) {
  Matrix vectors = kPositive;
  std::vector<double> values = diagonalize(vectors);
  ASSERT_EQ(values.size(), 3u);
  EXPECT_LE(values[0], values[1]);
  EXPECT_LE(values[1], values[2]);
  EXPECT_NEAR(values[0] + values[1] + values[2], 15, 1e-12);  // the trace
  Matrix scaled = vectors;
  for (int64_t i = 0; i < 3; ++i)
    for (int64_t j = 0; j < 3; ++j) scaled(i, j) *= values[j];
  expectNear(multiply(kPositive, vectors), scaled);
}

TEST(Matrices, SingularVectorsOfTallMatrices) {
  const Matrix tall = matrix(4, 2, {1, 2, 3, 4, 5, 6, 7, 9});
  Matrix u, v;
  std::vector<double> values = decomposeSingular(tall, u, v);
  ASSERT_EQ(values.size(), 2u);
  EXPECT_GE(values[0], values[1]);
  Matrix scaled = u;
  for (int64_t i = 0; i < 4; ++i)
    for (int64_t j = 0; j < 2; ++j) scaled(i, j) *= values[j];
  expectNear(multiply(scaled, transpose(v)), tall);
  completeBasis(u);
  ASSERT_EQ(u.columns, 4);
  Matrix identity(4, 4);
  for (int64_t i = 0; i < 4; ++i) identity(i, i) = 1;
  expectNear(multiply(transpose(u), u), identity);
}

TEST(Matrices, TridiagonalFormKeepsTheEigenvalues) {
  for (bool isLower : {true, false}) {
    Matrix reduced = kPositive;
    reduceToTridiagonal(reduced, isLower);
    Matrix form(3, 3);
    for (int64_t i = 0; i < 3; ++i) form(i, i) = reduced(i, i);
    for (int64_t i = 0; i < 2; ++i) form(i, i + 1) = form(i + 1, i) = isLower ? reduced(i + 1, i) : reduced(i, i + 1);
    Matrix whole = kPositive;
    std::vector<double> expected = diagonalize(whole), values = diagonalize(form);
    for (int64_t i = 0; i < 3; ++i) EXPECT_NEAR(values[i], expected[i], 1e-12);
  }
}

TEST(Matrices, HessenbergFormIsSimilar) {
  Matrix reduced = kGeneral;
  reduceToHessenberg(reduced);
  double trace = 0, squares = 0, expected = 0;
  const auto entry = [&](int64_t i, int64_t j) { return i > j + 1 ? 0.0 : reduced(i, j); };
  for (int64_t i = 0; i < 3; ++i) {
    trace += entry(i, i);
    for (int64_t j = 0; j < 3; ++j) {
      squares += entry(i, j) * entry(j, i);
      expected += kGeneral(i, j) * kGeneral(j, i);
    }
  }
  EXPECT_NEAR(trace, -3, 1e-12);
  EXPECT_NEAR(squares, expected, 1e-12);  // the trace of the square
}

}  // namespace
}  // namespace mlir::sgd::reference
