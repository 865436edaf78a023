// Bytes of reshards against a count over all ranks, and the choice of assignments for the usual
// conflicts.
#include "passes/sharding/propagation/assignment.h"

#include <gtest/gtest.h>

namespace mlir::sgd {
namespace {

using Mapping = llvm::SmallVector<llvm::SmallVector<unsigned, 1>, 4>;

const AxisPart kX{0, 1, 4}, kY{1, 1, 2};

TensorAxes tensorOf(std::initializer_list<AxisParts> dims, AxisParts unreduced = {}) {
  TensorAxes tensor;
  for (const AxisParts& axes : dims) tensor.dims.push_back({axes, /*isOpen=*/false});
  tensor.unreduced = std::move(unreduced);
  return tensor;
}

/// Index of the shard that rank (x, y) of a 4 x 2 mesh holds along a dimension.
int64_t shardOf(const AxisParts& axes, int64_t x, int64_t y) {
  int64_t shard = 0;
  for (const AxisPart& part : axes) shard = shard * part.size + (part.axis == 0 ? x : y);
  return shard;
}

/// Elements of an 8 x 8 tensor that ranks do not hold yet, on average.
double countReceived(const TensorAxes& from, const TensorAxes& to) {
  auto holds = [](const TensorAxes& tensor, int64_t x, int64_t y, int64_t row, int64_t column) {
    auto inShard = [&](const AxisParts& axes, int64_t index) {
      return index / (8 / getGroupSize(axes)) == shardOf(axes, x, y);
    };
    return inShard(tensor.dims[0].axes, row) && inShard(tensor.dims[1].axes, column);
  };
  int64_t received = 0;
  for (int64_t x = 0; x < 4; ++x)
    for (int64_t y = 0; y < 2; ++y)
      for (int64_t row = 0; row < 8; ++row)
        for (int64_t column = 0; column < 8; ++column)
          received += holds(to, x, y, row, column) && !holds(from, x, y, row, column);
  return received / 8.0;
}

TEST(ReshardBytesTest, IsWhatRanksDoNotHoldYet) {
  std::vector<TensorAxes> shardings = {tensorOf({{}, {}}),       tensorOf({{kX}, {}}),    tensorOf({{}, {kX}}),
                                       tensorOf({{kY}, {}}),     tensorOf({{}, {kY}}),    tensorOf({{kX}, {kY}}),
                                       tensorOf({{kX, kY}, {}}), tensorOf({{}, {kX, kY}})};
  for (const TensorAxes& from : shardings)
    for (const TensorAxes& to : shardings) EXPECT_DOUBLE_EQ(reshardBytes(from, to, 64), countReceived(from, to));
  // Where axes trade places between dimensions, the estimate ignores that some ranks stay on the
  // diagonal.
  TensorAxes xy = tensorOf({{kX}, {kY}}), yx = tensorOf({{kY}, {kX}});
  EXPECT_GE(reshardBytes(xy, yx, 64), countReceived(xy, yx));
}

TEST(ReshardBytesTest, ReductionsCostByWhereTheyGo) {
  TensorAxes partial = tensorOf({{}, {}}, {kX});
  EXPECT_DOUBLE_EQ(reshardBytes(partial, partial, 64), 0);
  EXPECT_DOUBLE_EQ(reshardBytes(partial, tensorOf({{kX}, {}}), 64), 48);
  EXPECT_DOUBLE_EQ(reshardBytes(partial, tensorOf({{}, {}}), 64), 96);
  EXPECT_DOUBLE_EQ(reshardBytes(tensorOf({{kY}, {}}, {kX}), tensorOf({{kY}, {}}), 64), 48);
}

/// A matmul [m, k] x [k, n]: factors m, n, k.
struct MatMul {
  TensorAxes lhs, rhs, result;
  int64_t m, n, k;

  Assignment choose() {
    llvm::SmallVector<int64_t> sizes = {m, n, k};
    llvm::SmallVector<bool> canBeSharded = {true, true, true}, isReduction = {false, false, true};
    Mapping lhsMap = {{0}, {2}}, rhsMap = {{2}, {1}}, resultMap = {{0}, {1}};
    llvm::SmallVector<AssignedTensor> tensors = {
        {&lhs, lhsMap, 4 * m * k, false}, {&rhs, rhsMap, 4 * k * n, false}, {&result, resultMap, 4 * m * n, true}};
    return chooseAssignment({sizes, canBeSharded, isReduction, tensors});
  }
};

TEST(AssignmentTest, AgreementIsKept) {
  EXPECT_EQ((MatMul{tensorOf({{kX}, {}}), tensorOf({{}, {kY}}), tensorOf({{kX}, {kY}}), 64, 64, 64}.choose()),
            (Assignment{{kX}, {kY}, {}}));
}

TEST(AssignmentTest, ContractionOverShardsGivesAPartialResult) {
  EXPECT_EQ((MatMul{tensorOf({{}, {kX}}), tensorOf({{kX}, {}}), tensorOf({{}, {}}), 64, 64, 64}.choose()),
            (Assignment{{}, {}, {kX}}));
}

TEST(AssignmentTest, AShardedGradientIsReduceScattered) {
  // Batch 512 sharded on both operands; the wanted gradient is sharded over the same axis.
  EXPECT_EQ((MatMul{tensorOf({{}, {kX}}), tensorOf({{kX}, {}}), tensorOf({{kX}, {}}), 64, 256, 512}.choose()),
            (Assignment{{}, {}, {kX}}));
}

TEST(AssignmentTest, AShardedWeightIsGatheredNotTheActivations) {
  EXPECT_EQ((MatMul{tensorOf({{kX}, {}}), tensorOf({{kX}, {}}), tensorOf({{kX}, {}}), 4096, 64, 64}.choose()),
            (Assignment{{kX}, {}, {}}));
}

TEST(AssignmentTest, FewRowsMoveInsteadOfALargeWeight) {
  EXPECT_EQ((MatMul{tensorOf({{kX}, {}}), tensorOf({{kX}, {}}), tensorOf({{kX}, {}}), 4, 4096, 4096}.choose()),
            (Assignment{{}, {}, {kX}}));
}

TEST(AssignmentTest, WhatMustBeWholeIsNotSharded) {
  TensorAxes operand = tensorOf({{kX}, {}}), result = tensorOf({{}, {kX}});
  llvm::SmallVector<int64_t> sizes = {64, 64};
  llvm::SmallVector<bool> canBeSharded = {false, true}, isReduction = {false, false};
  Mapping operandMap = {{0}, {1}}, resultMap = {{0}, {1}};
  llvm::SmallVector<AssignedTensor> tensors = {{&operand, operandMap, 4096, false}, {&result, resultMap, 4096, true}};
  EXPECT_EQ(chooseAssignment({sizes, canBeSharded, isReduction, tensors}), (Assignment{{}, {kX}}));
}

TEST(AssignmentTest, AnAxisDoesNotShardAResultThatIsASumOverIt) {
  // A block selected from sharded rows, wanted sharded over the same axis: no tensor disagrees with another.
  TensorAxes operand = tensorOf({{kX}, {}}), result = tensorOf({{kX}, {}});
  llvm::SmallVector<int64_t> sizes = {64, 8, 16};
  llvm::SmallVector<bool> canBeSharded = {true, true, true}, isReduction = {true, false, false};
  Mapping operandMap = {{0}, {2}}, resultMap = {{1}, {2}};
  llvm::SmallVector<AssignedTensor> tensors = {{&operand, operandMap, 4096, false}, {&result, resultMap, 512, true}};
  EXPECT_EQ(chooseAssignment({sizes, canBeSharded, isReduction, tensors}), (Assignment{{kX}, {}, {}}));
}

TEST(AssignmentTest, AxesOfWhatMustBeWholeMoveToAnotherDimension) {
  // A sort along a sharded dimension: rows are sharded while they are sorted.
  TensorAxes operand = tensorOf({{}, {kX}}), result = tensorOf({{}, {kX}});
  llvm::SmallVector<int64_t> sizes = {64, 64};
  llvm::SmallVector<bool> canBeSharded = {true, false}, isReduction = {false, false};
  Mapping map = {{0}, {1}};
  llvm::SmallVector<AssignedTensor> tensors = {{&operand, map, 16384, false}, {&result, map, 16384, true}};
  EXPECT_EQ(chooseAssignment({sizes, canBeSharded, isReduction, tensors}), (Assignment{{kX}, {}}));
  // Too few rows for all ranks.
  sizes[0] = 3;
  EXPECT_EQ(chooseAssignment({sizes, canBeSharded, isReduction, tensors}), (Assignment{{}, {}}));
}

TEST(AssignmentTest, AMergedDimensionHoldsItsMinorFactorOnlyBehindAFullMajorOne) {
  // [4, 8] -> [32], the minor dimension sharded.
  TensorAxes operand = tensorOf({{}, {kX}}), result = tensorOf({{}});
  llvm::SmallVector<int64_t> sizes = {4, 8};
  llvm::SmallVector<bool> canBeSharded = {true, true}, isReduction = {false, false};
  Mapping operandMap = {{0}, {1}}, resultMap = {{0, 1}};
  llvm::SmallVector<AssignedTensor> tensors = {{&operand, operandMap, 128, false}, {&result, resultMap, 128, true}};
  EXPECT_EQ(chooseAssignment({sizes, canBeSharded, isReduction, tensors}), (Assignment{{}, {}}));
}

TEST(AssignmentTest, WhatIsIndependentIsChosenForItself) {
  // A barrier of two values; one keeps its sharding, the other follows the larger of what it has and what is wanted.
  TensorAxes a = tensorOf({{kX}}), b = tensorOf({{kX}}), bWanted = tensorOf({{kY}});
  llvm::SmallVector<int64_t> sizes = {64, 8};
  llvm::SmallVector<bool> canBeSharded = {true, true}, isReduction = {false, false};
  Mapping first = {{0}}, second = {{1}};
  llvm::SmallVector<AssignedTensor> tensors = {
      {&a, first, 256, false}, {&b, second, 32, false}, {&a, first, 256, true}, {&bWanted, second, 32, true}};
  AssignmentProblem both{sizes, canBeSharded, isReduction, tensors};
  Assignment chosen = chooseAssignment(both);
  EXPECT_EQ(chosen[0], (AxisParts{kX}));
  EXPECT_TRUE(chosen[1] == (AxisParts{kX}) || chosen[1] == (AxisParts{kY}));
  // 16 and 2 or 4 elements per rank are computed, not 16 times as many.
  EXPECT_LE(getCost(both, chosen), getComputeCost(16 + 4) + 32);
}

TEST(AssignmentTest, ALeaderKeepsItsSharding) {
  MatMul product{tensorOf({{kX}, {}}), tensorOf({{kX}, {}}), tensorOf({{}, {kX}}), 64, 64, 64};
  llvm::SmallVector<int64_t> sizes = {64, 64, 64};
  llvm::SmallVector<bool> canBeSharded = {true, true, true}, isReduction = {false, false, true};
  Mapping lhsMap = {{0}, {2}}, rhsMap = {{2}, {1}}, resultMap = {{0}, {1}};
  llvm::SmallVector<AssignedTensor> tensors = {
      {&product.lhs, lhsMap, 1, false}, {&product.rhs, rhsMap, 1, false}, {&product.result, resultMap, 1, true}};
  AssignmentProblem problem{sizes, canBeSharded, isReduction, tensors};
  EXPECT_EQ(followTensor(problem, 0, /*alone=*/true), (Assignment{{kX}, {}, {}}));
  EXPECT_EQ(followTensor(problem, 1, /*alone=*/true), (Assignment{{}, {}, {kX}}));
  EXPECT_EQ(followTensor(problem, 2, /*alone=*/false), (Assignment{{}, {kX}, {}}));
}

}  // namespace
}  // namespace mlir::sgd
