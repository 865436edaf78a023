// Every order of the labels of small einsums: the strided matmuls compute the einsum, and canonical orders
// are always possible.
#include "passes/kernels/library/contraction_shape.h"

#include <map>
#include <numeric>
#include <vector>

#include "gtest/gtest.h"

namespace mlir::sgd {
namespace {

using Labels = std::vector<int64_t>;
using Sizes = std::map<int64_t, int64_t>;
using Data = std::vector<int64_t>;

Labels sizesOf(const Labels& labels, const Sizes& sizes) {
  Labels result;
  for (int64_t label : labels) result.push_back(sizes.at(label));
  return result;
}

int64_t count(const Labels& labels, const Sizes& sizes) {
  int64_t elements = 1;
  for (int64_t label : labels) elements *= sizes.at(label);
  return elements;
}

int64_t position(const Labels& labels, const Sizes& sizes, const Sizes& index) {
  int64_t result = 0;
  for (int64_t label : labels) result = result * sizes.at(label) + index.at(label);
  return result;
}

Data numbers(int64_t size, int64_t seed) {
  Data data(size);
  for (int64_t i = 0; i < size; ++i) data[i] = (i * 7 + seed) % 11 - 5;
  return data;
}

/// The definition: for all values of all labels, c[...] += a[...] * b[...].
Data naive(const Labels& lhs, const Labels& rhs, const Labels& result, const Sizes& sizes, const Data& a,
           const Data& b) {
  Data c(count(result, sizes), 0);
  Labels all;
  for (auto [label, size] : sizes) all.push_back(label);
  const int64_t total = count(all, sizes);
  for (int64_t flat = 0; flat < total; ++flat) {
    Sizes index;
    int64_t rest = flat;
    for (int64_t label : all) {
      index[label] = rest % sizes.at(label);
      rest /= sizes.at(label);
    }
    c[position(result, sizes, index)] += a[position(lhs, sizes, index)] * b[position(rhs, sizes, index)];
  }
  return c;
}

void multiply(const ContractionShape& shape, int64_t a0, int64_t b0, int64_t c0, const Data& a, const Data& b,
              Data& c) {
  for (int64_t i = 0; i < shape.m; ++i)
    for (int64_t j = 0; j < shape.n; ++j)
      for (int64_t l = 0; l < shape.k; ++l)
        c.at(c0 + i * shape.cM + j * shape.cN) +=
            a.at(a0 + i * shape.aM + l * shape.aK) * b.at(b0 + l * shape.bK + j * shape.bN);
}

Data run(const ContractionShape& shape, Data a, Data b, int64_t elements) {
  if (shape.swapped) std::swap(a, b);
  Data c(elements, 0);
  int64_t batches = 1;
  for (int64_t size : shape.batch) batches *= size;
  for (int64_t repeat = 0; repeat < shape.repeats; ++repeat)
    for (int64_t flat = 0; flat < batches; ++flat) {
      int64_t a0 = repeat * shape.aStep, b0 = repeat * shape.bStep, c0 = 0, rest = flat;
      for (size_t dim = 0; dim < shape.batch.size(); ++dim) {
        const int64_t index = rest % shape.batch[dim];
        rest /= shape.batch[dim];
        a0 += index * shape.aBatch[dim];
        b0 += index * shape.bBatch[dim];
        c0 += index * shape.cBatch[dim];
      }
      multiply(shape, a0, b0, c0, a, b, c);
    }
  return c;
}

bool hasUnitStride(int64_t rows, int64_t rowStride, int64_t columns, int64_t columnStride) {
  return rows == 1 || columns == 1 || rowStride == 1 || columnStride == 1;
}

/// Returns whether there is a form; checks it when there is.
bool check(const Labels& lhs, const Labels& rhs, const Labels& result, const Sizes& sizes) {
  const Labels lhsSizes = sizesOf(lhs, sizes), rhsSizes = sizesOf(rhs, sizes), resultSizes = sizesOf(result, sizes);
  const auto shape = getContractionShape({lhs, lhsSizes}, {rhs, rhsSizes}, {result, resultSizes});
  if (!shape) return false;
  EXPECT_LE(shape->batch.size(), 4u);
  EXPECT_TRUE(hasUnitStride(shape->m, shape->aM, shape->k, shape->aK));
  EXPECT_TRUE(hasUnitStride(shape->k, shape->bK, shape->n, shape->bN));
  EXPECT_TRUE(hasUnitStride(shape->m, shape->cM, shape->n, shape->cN));
  const Data a = numbers(count(lhs, sizes), 1), b = numbers(count(rhs, sizes), 3);
  EXPECT_EQ(run(*shape, a, b, count(result, sizes)), naive(lhs, rhs, result, sizes, a, b));
  return true;
}

/// Calls `visit` with every order of the three label lists; returns how many had a form.
int checkAllOrders(Labels lhs, Labels rhs, Labels result, const Sizes& sizes) {
  int possible = 0;
  for (Labels* list : {&lhs, &rhs, &result}) std::sort(list->begin(), list->end());
  do {
    do {
      do {
        possible += check(lhs, rhs, result, sizes);
        if (::testing::Test::HasFailure()) return possible;
      } while (std::next_permutation(result.begin(), result.end()));
    } while (std::next_permutation(rhs.begin(), rhs.end()));
  } while (std::next_permutation(lhs.begin(), lhs.end()));
  return possible;
}

// Labels: 0 batch, 1 m, 2 n, 3 k, 4 a second k, 5 a second m.
TEST(ContractionShape, EveryOrderOfAMatmulHasAForm) {
  EXPECT_EQ(checkAllOrders({1, 3}, {3, 2}, {1, 2}, {{1, 2}, {2, 3}, {3, 4}}), 8);
}

TEST(ContractionShape, BatchedMatmuls) {
  EXPECT_GT(checkAllOrders({0, 1, 3}, {0, 3, 2}, {0, 1, 2}, {{0, 2}, {1, 3}, {2, 2}, {3, 4}}), 60);
}

TEST(ContractionShape, SizesOfOne) {
  for (int64_t one : {0, 1, 2, 3}) {
    Sizes sizes = {{0, 2}, {1, 3}, {2, 2}, {3, 4}};
    sizes[one] = 1;
    EXPECT_GT(checkAllOrders({0, 1, 3}, {0, 3, 2}, {0, 1, 2}, sizes), 60) << one;
  }
}

TEST(ContractionShape, TwoContractedLabelsMergeOrRepeat) {
  EXPECT_GT(checkAllOrders({1, 3, 4}, {3, 4, 2}, {1, 2}, {{1, 2}, {2, 3}, {3, 4}, {4, 2}}), 20);
}

TEST(ContractionShape, TwoFreeLabels) {
  EXPECT_GT(checkAllOrders({1, 5, 3}, {3, 2}, {1, 5, 2}, {{1, 2}, {2, 3}, {3, 4}, {5, 3}}), 30);
}

TEST(ContractionShape, OuterProductAndDotProduct) {
  EXPECT_TRUE(check({1}, {2}, {1, 2}, {{1, 3}, {2, 4}}));
  EXPECT_TRUE(check({1}, {2}, {2, 1}, {{1, 3}, {2, 4}}));
  EXPECT_TRUE(check({3}, {3}, {}, {{3, 5}}));
  EXPECT_TRUE(check({}, {}, {}, {}));
  EXPECT_TRUE(check({0}, {0}, {0}, {{0, 5}}));
}

TEST(ContractionShape, CanonicalOrderIsAlwaysPossible) {
  // [batch, free, contracted] x [batch, contracted, free] -> [batch, free, free], two labels each.
  EXPECT_TRUE(check({0, 1, 2, 3, 4, 5}, {0, 1, 4, 5, 6, 7}, {0, 1, 2, 3, 6, 7},
                    {{0, 2}, {1, 3}, {2, 2}, {3, 2}, {4, 3}, {5, 2}, {6, 2}, {7, 2}}));
}

TEST(ContractionShape, ProjectionOfThreeWeightsSharesTheActivations) {
  // W[k, 3, h, d], x[b, s, k] -> [3, b, s, h, d]
  const Labels lhs = {3, 0, 1, 5}, rhs = {6, 7, 3}, result = {0, 6, 7, 1, 5};
  const Sizes sizes = {{0, 3}, {1, 4}, {3, 16}, {5, 8}, {6, 2}, {7, 4}};
  ASSERT_TRUE(check(lhs, rhs, result, sizes));
  const Labels lhsSizes = sizesOf(lhs, sizes), rhsSizes = sizesOf(rhs, sizes), resultSizes = sizesOf(result, sizes);
  const auto shape = getContractionShape({lhs, lhsSizes}, {rhs, rhsSizes}, {result, resultSizes});
  EXPECT_EQ(shape->batch, (llvm::SmallVector<int64_t, 4>{3}));
  EXPECT_EQ(shape->m, 8);
  EXPECT_EQ(shape->n, 32);
  EXPECT_EQ(shape->k, 16);
  EXPECT_EQ(shape->cN, 1);
  EXPECT_TRUE(shape->swapped);
}

TEST(ContractionShape, SumOverTheThreeWeightsRepeats) {
  // y[3, b, h], W[k, 3, h] -> [b, k]: 3 and h do not lie side by side in y.
  const Labels lhs = {0, 1, 5}, rhs = {2, 0, 5}, result = {1, 2}, lhsSizes = {3, 4, 8}, rhsSizes = {16, 3, 8},
               resultSizes = {4, 16};
  const auto shape = getContractionShape({lhs, lhsSizes}, {rhs, rhsSizes}, {result, resultSizes});
  ASSERT_TRUE(shape);
  EXPECT_EQ(shape->repeats, 3);
  EXPECT_EQ(shape->k, 8);
  EXPECT_TRUE(check(lhs, rhs, result, {{0, 3}, {1, 4}, {2, 16}, {5, 8}}));
  EXPECT_FALSE(getContractionShape({lhs, lhsSizes}, {rhs, rhsSizes}, {result, resultSizes}, /*mayRepeat=*/false));
}

TEST(ContractionShape, RefusesWhatHasNoUnitStride) {
  // The innermost dimension of the result is a batch dimension.
  const Labels lhs = {0, 1, 3}, rhs = {0, 3, 2}, result = {1, 2, 0}, sizes = {2, 2, 2};
  EXPECT_FALSE(getContractionShape({lhs, sizes}, {rhs, sizes}, {result, sizes}));
}

}  // namespace
}  // namespace mlir::sgd
