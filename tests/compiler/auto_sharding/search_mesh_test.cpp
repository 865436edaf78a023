// Factorizations, all of them and no other.
#include "compiler/auto_sharding/search_mesh.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

using namespace mlir::sgd;
using testing::ElementsAre;
using testing::IsEmpty;

namespace {

TEST(SearchMesh, PrimeFactorsMultiplyToTheNumber) {
  EXPECT_THAT(getPrimeFactors(1), IsEmpty());
  EXPECT_THAT(getPrimeFactors(360), ElementsAre(2, 2, 2, 3, 3, 5));
  for (int64_t number = 1; number <= 200; ++number) {
    int64_t product = 1;
    for (int64_t factor : getPrimeFactors(number)) {
      product *= factor;
      EXPECT_EQ(getPrimeFactors(factor).size(), 1u) << factor;
    }
    EXPECT_EQ(product, number);
  }
}

TEST(SearchMesh, MeshesAreAllFactorizationsOnce) {
  for (int64_t ranks = 1; ranks <= 64; ++ranks) {
    std::vector<SearchMesh> expected;
    for (int64_t stages = 1; stages <= ranks; ++stages)
      for (int64_t model = 1; model <= ranks; ++model)
        for (int64_t data = 1; data <= ranks; ++data)
          if (data * model * stages == ranks) expected.push_back({data, model, stages});
    EXPECT_EQ(getMeshes(ranks), expected) << ranks;
  }
}

TEST(SearchMesh, LargeNumbersTakeNoTime) { EXPECT_EQ(getMeshes(int64_t(1) << 20).size(), 231u); }

TEST(SearchMesh, NeighboursMoveOnePrimeFactor) {
  std::vector<SearchMesh> neighbours = getNeighbours({4, 1, 3});
  EXPECT_THAT(neighbours,
              ElementsAre(SearchMesh{2, 2, 3}, SearchMesh{2, 1, 6}, SearchMesh{12, 1, 1}, SearchMesh{4, 3, 1}));
}

TEST(SearchMesh, FactorizationsOfNoAxes) {
  EXPECT_EQ(getFactorizations(1, 0).size(), 1u);
  EXPECT_THAT(getFactorizations(2, 0), IsEmpty());
  EXPECT_EQ(getFactorizations(6, 2), (std::vector<std::vector<int64_t>>{{1, 6}, {2, 3}, {3, 2}, {6, 1}}));
}

TEST(SearchMesh, FirstFactorizationsAreAllWhereThereAreFew) {
  for (int64_t ranks = 1; ranks <= 64; ++ranks)
    for (size_t count : {1, 2, 3}) {
      std::vector<std::vector<int64_t>> first = getFirstFactorizations(ranks, count, 100);
      std::sort(first.begin(), first.end());
      EXPECT_EQ(first, getFactorizations(ranks, count)) << ranks;
    }
}

TEST(SearchMesh, FirstFactorizationsOfManyAxesAreFew) {
  // Of 84,672,315.
  std::vector<std::vector<int64_t>> first = getFirstFactorizations(int64_t(1) << 20, 12, 16);
  ASSERT_EQ(first.size(), 16u);
  EXPECT_EQ(first[0][0], int64_t(1) << 20);
  EXPECT_EQ(first[12], (std::vector<int64_t>{1 << 19, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}));
}

}  // namespace
