// The evaluator's complex linear algebra, and eigenvalues of matrices of any kind, by the identities that define each
// decomposition.
#include "reference/matrices.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "reference/schur.h"

namespace mlir::sgd::reference {
namespace {

ComplexMatrix makeMatrix(int64_t rows, int64_t columns, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> draw(-1, 1);
  ComplexMatrix a(rows, columns);
  for (ComplexNumber& element : a.elements) element = {draw(random), draw(random)};
  return a;
}

Matrix makeRealMatrix(int64_t size, unsigned seed) {
  Matrix real(size, size);
  ComplexMatrix a = makeMatrix(size, size, seed);
  for (size_t i = 0; i < real.elements.size(); ++i) real.elements[i] = a.elements[i].real();
  return real;
}

ComplexMatrix toComplex(const Matrix& a) {
  ComplexMatrix result(a.rows, a.columns);
  for (size_t i = 0; i < a.elements.size(); ++i) result.elements[i] = a.elements[i];
  return result;
}

ComplexMatrix makeHermitian(int64_t size, unsigned seed) {
  ComplexMatrix a = makeMatrix(size, size, seed);
  for (int64_t i = 0; i < size; ++i) {
    a(i, i) = a(i, i).real();
    for (int64_t j = 0; j < i; ++j) a(j, i) = std::conj(a(i, j));
  }
  return a;
}

ComplexMatrix multiply(const ComplexMatrix& a, const ComplexMatrix& b) {
  ComplexMatrix c(a.rows, b.columns);
  for (int64_t i = 0; i < a.rows; ++i)
    for (int64_t j = 0; j < b.columns; ++j)
      for (int64_t k = 0; k < a.columns; ++k) c(i, j) += a(i, k) * b(k, j);
  return c;
}

template <typename Value>
ComplexMatrix scaleColumns(ComplexMatrix a, const std::vector<Value>& values) {
  for (int64_t i = 0; i < a.rows; ++i)
    for (int64_t j = 0; j < a.columns; ++j) a(i, j) *= values[j];
  return a;
}

void expectNear(const ComplexMatrix& a, const ComplexMatrix& b) {
  ASSERT_EQ(a.rows, b.rows);
  ASSERT_EQ(a.columns, b.columns);
  for (size_t i = 0; i < a.elements.size(); ++i)
    ASSERT_NEAR(std::abs(a.elements[i] - b.elements[i]), 0, 1e-11) << "element " << i;
}

void expectUnitary(const ComplexMatrix& q) { expectNear(multiply(adjoint(q), q), identity<ComplexNumber>(q.columns)); }

TEST(ComplexMatrices, VectorsOfHermitianMatrices) {
  for (int64_t size : {1, 2, 3, 5, 8}) {
    const ComplexMatrix a = makeHermitian(size, 1);
    ComplexMatrix vectors = a;
    std::vector<double> values = diagonalize(vectors);
    EXPECT_TRUE(std::is_sorted(values.begin(), values.end()));
    expectUnitary(vectors);
    expectNear(multiply(a, vectors), scaleColumns(vectors, values));
  }
}

TEST(ComplexMatrices, SingularVectors) {
  for (auto [rows, columns] : {std::pair{1, 1}, {5, 3}, {3, 5}, {4, 4}}) {
    const ComplexMatrix a = makeMatrix(rows, columns, 2);
    ComplexMatrix u, v;
    std::vector<double> values = decomposeSingular(a, u, v);
    EXPECT_TRUE(std::is_sorted(values.rbegin(), values.rend()));
    expectNear(multiply(scaleColumns(u, values), adjoint(v)), a);
    expectUnitary(v);
    completeBasis(u);
    ASSERT_EQ(u.columns, rows);
    expectUnitary(u);
  }
}

/// Of rank 1 the vectors of the other values complete a basis.
TEST(ComplexMatrices, SingularVectorsOfDeficientMatrices) {
  const ComplexMatrix a = multiply(makeMatrix(4, 1, 3), makeMatrix(1, 3, 4));
  ComplexMatrix u, v;
  std::vector<double> values = decomposeSingular(a, u, v);
  EXPECT_LT(values[1], 1e-14);
  expectNear(multiply(scaleColumns(u, values), adjoint(v)), a);
}

TEST(ComplexMatrices, QrOfTallAndWideMatrices) {
  for (auto [rows, columns] : {std::pair{5, 3}, {3, 5}, {1, 1}}) {
    const ComplexMatrix a = makeMatrix(rows, columns, 5);
    ComplexMatrix factors = a, r = a, q = identity<ComplexNumber>(rows);
    std::vector<ComplexNumber> taus = factorQr(factors, nullptr);
    multiplyReflectors(factors, taus, /*isAdjoint=*/false, q);
    expectUnitary(q);
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t j = 0; j < columns; ++j) r(i, j) = i <= j ? factors(i, j) : 0;
    for (int64_t i = 0; i < std::min(rows, columns); ++i) EXPECT_EQ(r(i, i).imag(), 0);
    expectNear(multiply(q, r), a);
  }
}

/// h is similar to a by the product of the reflectors, which begin one row down.
TEST(ComplexMatrices, HessenbergFormIsSimilar) {
  const ComplexMatrix a = makeMatrix(5, 5, 6);
  ComplexMatrix reduced = a, h = a, reflectors(4, 4), q(4, 4), whole = identity<ComplexNumber>(5);
  std::vector<ComplexNumber> taus = reduceToHessenberg(reduced);
  for (int64_t i = 0; i < 5; ++i)
    for (int64_t j = 0; j < 5; ++j) h(i, j) = i <= j + 1 ? reduced(i, j) : 0;
  for (int64_t i = 0; i < 4; ++i)
    for (int64_t j = 0; j < 4; ++j) reflectors(i, j) = reduced(i + 1, j);
  q = identity<ComplexNumber>(4);
  multiplyReflectors(reflectors, taus, /*isAdjoint=*/false, q);
  for (int64_t i = 0; i < 4; ++i)
    for (int64_t j = 0; j < 4; ++j) whole(i + 1, j + 1) = q(i, j);
  expectNear(multiply(multiply(whole, h), adjoint(whole)), a);
}

TEST(ComplexMatrices, TridiagonalFormIsRealAndKeepsTheEigenvalues) {
  for (bool isLower : {true, false}) {
    const ComplexMatrix a = makeHermitian(5, 7);
    ComplexMatrix reduced = a, form(5, 5), whole = a;
    reduceToTridiagonal(reduced, isLower);
    for (int64_t i = 0; i < 5; ++i) form(i, i) = reduced(i, i);
    for (int64_t i = 0; i < 4; ++i) form(i, i + 1) = form(i + 1, i) = isLower ? reduced(i + 1, i) : reduced(i, i + 1);
    for (ComplexNumber element : form.elements) EXPECT_NEAR(element.imag(), 0, 1e-12);
    std::vector<double> expected = diagonalize(whole), values = diagonalize(form);
    for (int64_t i = 0; i < 5; ++i) EXPECT_NEAR(values[i], expected[i], 1e-12);
  }
}

TEST(Schur, OfComplexMatrices) {
  for (int64_t size : {1, 2, 3, 5, 8, 16}) {
    const ComplexMatrix a = makeMatrix(size, size, 8);
    Schur<ComplexNumber> schur = decomposeSchur(a);
    ASSERT_TRUE(schur.hasConverged);
    expectUnitary(schur.z);
    expectNear(multiply(multiply(schur.z, schur.t), adjoint(schur.z)), a);
    for (int64_t i = 0; i < size; ++i) {
      EXPECT_NEAR(std::abs(schur.values[i] - schur.t(i, i)), 0, 1e-12);
      for (int64_t j = 0; j < i; ++j) EXPECT_NEAR(std::abs(schur.t(i, j)), 0, 1e-12);
    }
  }
}

/// Blocks of two rows are those of pairs that are not real; everything else below the diagonal is 0.
TEST(Schur, OfRealMatrices) {
  for (int64_t size : {1, 2, 3, 4, 5, 8, 13}) {
    for (unsigned seed = 0; seed < 20; ++seed) {
      const Matrix a = makeRealMatrix(size, seed);
      Schur<double> schur = decomposeSchur(a);
      ASSERT_TRUE(schur.hasConverged);
      ComplexMatrix t = toComplex(schur.t), z = toComplex(schur.z);
      expectUnitary(z);
      expectNear(multiply(multiply(z, t), adjoint(z)), toComplex(a));
      for (int64_t i = 0; i < size; ++i)
        for (int64_t j = 0; j < i; ++j) {
          bool isInBlock = j + 1 == i && schur.values[j].imag() > 0;
          EXPECT_EQ(isInBlock, std::abs(schur.t(i, j)) > 1e-12) << size << " " << seed << " " << i << " " << j;
        }
    }
  }
}

/// Fixed points of steps with the usual shifts, equal values, values of a chain.
TEST(Schur, ConvergesOnAwkwardMatrices) {
  Matrix cycle(4, 4), chain(4, 4), zero(3, 3), rotation(2, 2);
  for (int64_t i = 0; i < 4; ++i) cycle((i + 1) % 4, i) = 1;
  for (int64_t i = 0; i < 4; ++i) chain(i, i) = 2;
  for (int64_t i = 0; i < 3; ++i) chain(i + 1, i) = 1;
  rotation(0, 1) = -1;
  rotation(1, 0) = 1;
  for (const Matrix& a : {cycle, chain, zero, rotation}) {
    Schur<double> real = decomposeSchur(a);
    Schur<ComplexNumber> complex = decomposeSchur(toComplex(a));
    ASSERT_TRUE(real.hasConverged && complex.hasConverged);
    ComplexMatrix z = toComplex(real.z);
    expectNear(multiply(multiply(z, toComplex(real.t)), adjoint(z)), toComplex(a));
    expectNear(multiply(multiply(complex.z, complex.t), adjoint(complex.z)), toComplex(a));
  }
}

TEST(Schur, EigenvectorsOfBothSides) {
  for (int64_t size : {1, 2, 3, 6, 9}) {
    const ComplexMatrix a = makeMatrix(size, size, 9);
    Eigenvectors e = getEigenvectors(a);
    ASSERT_TRUE(e.hasConverged);
    expectNear(multiply(a, e.right), scaleColumns(e.right, e.values));
    std::vector<ComplexNumber> conjugates;
    for (ComplexNumber value : e.values) conjugates.push_back(std::conj(value));
    expectNear(multiply(adjoint(a), e.left), scaleColumns(e.left, conjugates));
    for (const ComplexMatrix& vectors : {e.left, e.right})
      for (int64_t j = 0; j < size; ++j) {
        double norm = 0;
        for (int64_t i = 0; i < size; ++i) norm += std::norm(vectors(i, j));
        EXPECT_NEAR(norm, 1, 1e-12);
      }
  }
}

}  // namespace
}  // namespace mlir::sgd::reference
