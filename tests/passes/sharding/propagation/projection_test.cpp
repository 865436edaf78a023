// Tensor shardings to factors and back, on every sharding of small tensors.
#include "passes/sharding/propagation/projection.h"

#include <gtest/gtest.h>

namespace mlir::sgd {
namespace {

using Mapping = llvm::SmallVector<llvm::SmallVector<unsigned, 1>, 4>;

const AxisPart kX{0, 1, 4}, kY{1, 1, 2}, kXMajor{0, 1, 2}, kXMinor{0, 2, 2};

TensorAxes tensorOf(std::initializer_list<AxisParts> dims) {
  TensorAxes tensor;
  for (const AxisParts& axes : dims) tensor.dims.push_back({axes, /*isOpen=*/true});
  return tensor;
}

std::vector<AxisParts> allLists() {
  return {{}, {kX}, {kY}, {kXMajor}, {kXMinor}, {kX, kY}, {kY, kX}, {kXMajor, kY}, {kY, kXMinor}, {kXMinor, kXMajor}};
}

TEST(ProjectionTest, TheHeadersExample) {
  const AxisPart a{0, 1, 4}, b{1, 1, 4}, bMajor{1, 1, 2}, bMinor{1, 2, 2};
  TensorFactors factors = project(tensorOf({{a, b}}), Mapping{{0, 1}}, {8, 6});
  EXPECT_EQ(factors.factors[0].axes, (AxisParts{a, bMajor}));
  EXPECT_EQ(factors.factors[1].axes, AxisParts{bMinor});

  TensorAxes result = tensorOf({{}, {}});
  EXPECT_TRUE(expandDims(result, Mapping{{0}, {1}}, {8, 6}, factors));
  EXPECT_EQ(result.dims[0].axes, (AxisParts{a, bMajor}));
  EXPECT_EQ(result.dims[1].axes, AxisParts{bMinor});

  bool isExact = true;
  EXPECT_EQ(joinFactors({0, 1}, {8, 6}, {AxisParts{a, bMajor}, AxisParts{bMinor}}, &isExact), (AxisParts{a, b}));
  EXPECT_TRUE(isExact);
  EXPECT_EQ(joinFactors({0, 1}, {8, 6}, {AxisParts{a}, AxisParts{b}}, &isExact), AxisParts{a});
  EXPECT_FALSE(isExact);
}

TEST(ProjectionTest, ProjectionAndBackIsTheIdentityWhereTheDimensionDivides) {
  for (const auto& sizes : std::vector<llvm::SmallVector<int64_t>>{{8}, {2, 4}, {4, 2}, {2, 2, 2}, {16, 8}}) {
    Mapping mapping(1);
    for (unsigned factor = 0; factor < sizes.size(); ++factor) mapping[0].push_back(factor);
    for (const AxisParts& axes : allLists()) {
      TensorFactors factors = project(tensorOf({axes}), mapping, sizes);
      ASSERT_TRUE(factors.factors.back().overflow.empty());
      llvm::SmallVector<AxisParts> perFactor;
      for (const FactorAxes& factor : factors.factors) perFactor.push_back(factor.axes);
      bool isExact = true;
      EXPECT_EQ(joinFactors(mapping[0], sizes, perFactor, &isExact), axes);
      EXPECT_TRUE(isExact);
    }
  }
}

TEST(ProjectionTest, AnAxisIsCutWhereAFactorIsFull) {
  TensorFactors factors = project(tensorOf({{kX, kY}}), Mapping{{0, 1}}, {2, 8});
  EXPECT_EQ(factors.factors[0].axes, AxisParts{kXMajor});
  EXPECT_EQ(factors.factors[1].axes, (AxisParts{kXMinor, kY}));
  EXPECT_FALSE(factors.factors[0].isMinorMost);
  EXPECT_TRUE(factors.factors[1].isMinorMost);
}

TEST(ProjectionTest, AnAxisThatDoesNotFitOverflowsAndBlocksTheFactorsBehind) {
  TensorFactors factors = project(tensorOf({{kX}}), Mapping{{0, 1}}, {3, 4});
  EXPECT_TRUE(factors.factors[0].axes.empty());
  EXPECT_TRUE(factors.factors[1].axes.empty());
  EXPECT_EQ(factors.factors[1].overflow, AxisParts{kX});
}

TEST(ProjectionTest, FactorsOfOtherTensorsAreAbsent) {
  TensorFactors factors = project(tensorOf({{kX}}), Mapping{{1}}, {8, 8});
  EXPECT_FALSE(factors.factors[0].isPresent);
  EXPECT_TRUE(factors.factors[1].isPresent);
}

TEST(ProjectionTest, AxesOfADimensionWithoutFactorsStayOutOfAllFactors) {
  TensorFactors factors = project(tensorOf({{kX}, {kY}}), Mapping{{0}, {}}, {8});
  EXPECT_EQ(factors.factors[0].axes, AxisParts{kX});
  EXPECT_EQ(factors.replicated, AxisParts{kY});
}

TEST(ProjectionTest, AMinorFactorCannotBeShardedBeforeItsMajorIsFull) {
  bool isExact = true;
  llvm::SmallVector<AxisParts> axes = {{kXMajor}, {kY}};
  EXPECT_EQ(joinFactors({0, 1}, {4, 8}, axes, &isExact), AxisParts{kXMajor});
  EXPECT_FALSE(isExact);
}

TEST(ProjectionTest, ExpansionNeverTakesAxesAway) {
  TensorAxes tensor = tensorOf({{kX}, {}});
  Mapping mapping = {{0}, {1}};
  TensorFactors factors = project(tensor, mapping, {8, 8});
  factors.factors[0].axes = {kY};
  factors.factors[1].axes = {kY};
  EXPECT_TRUE(expandDims(tensor, mapping, {8, 8}, factors));
  EXPECT_EQ(tensor.dims[0].axes, AxisParts{kX});
  EXPECT_EQ(tensor.dims[1].axes, AxisParts{kY});
  EXPECT_FALSE(expandDims(tensor, mapping, {8, 8}, factors));
}

}  // namespace
}  // namespace mlir::sgd
