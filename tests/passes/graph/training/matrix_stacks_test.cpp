// Which matrices share a stack, for all small numbers of matrices and ranks.
#include "passes/graph/training/matrix_stacks.h"

#include <gtest/gtest.h>

#include <array>

using namespace mlir::sgd;

/// Ranks along axes "0", "1", ... of `sizes`.
static MatrixRanks getRanks(llvm::ArrayRef<int64_t> sizes) {
  MatrixRanks ranks;
  for (auto [axis, size] : llvm::enumerate(sizes)) {
    ranks.axes.push_back(std::to_string(axis));
    ranks.parts.push_back({static_cast<unsigned>(axis), 1, size});
    ranks.size *= size;
  }
  return ranks;
}

/// The positions in `stacks`, in the order of stacks.
static std::vector<unsigned> getPositions(llvm::ArrayRef<MatrixStack> stacks) {
  std::vector<unsigned> positions;
  for (const MatrixStack& stack : stacks)
    positions.insert(positions.end(), stack.matrices.begin(), stack.matrices.end());
  return positions;
}

/// The numbers of matrices, slots and owners of each stack of `count` equal matrices.
static std::vector<std::array<int64_t, 3>> getStacks(unsigned count, const MatrixRanks& ranks, int64_t rows = 60) {
  std::vector<StackableMatrix> matrices(count, {rows, 60, 0});
  std::vector<std::array<int64_t, 3>> found;
  for (const MatrixStack& stack : stackMatrices(matrices, ranks))
    found.push_back({static_cast<int64_t>(stack.matrices.size()), stack.slots, stack.owners});
  return found;
}

TEST(MatrixStacks, HaveEachMatrixOnce) {
  for (int64_t size = 2; size <= 8; ++size) {
    for (unsigned count = 0; count <= 20; ++count) {
      std::vector<StackableMatrix> matrices;
      for (unsigned i = 0; i < count; ++i)
        matrices.push_back(i % 2 ? StackableMatrix{840, 1680, 0} : StackableMatrix{1680, 840, 0});
      auto stacks = stackMatrices(matrices, getRanks(size));
      std::vector<unsigned> positions = getPositions(stacks);
      for (unsigned i = 0; i < positions.size(); ++i) EXPECT_EQ(positions[i], i);
      // Left to all ranks: one, or of a prime number of ranks more, but fewer than would be with empty slots.
      EXPECT_LE(count - positions.size(), size == 5 || size == 7 ? (size + 1) / 2 : 1) << count << " on " << size;
      for (const MatrixStack& stack : stacks) {
        EXPECT_EQ(stack.slots % stack.owners, 0);
        EXPECT_EQ(size % stack.owners, 0);
        EXPECT_LE(stack.matrices.size(), static_cast<size_t>(stack.slots));
      }
    }
  }
}

using Stacks = std::vector<std::array<int64_t, 3>>;

TEST(MatrixStacks, HaveOwnersOfSeveralRanksOrEmptySlots) {
  EXPECT_EQ(getStacks(10, getRanks({4})), (Stacks{{8, 8, 4}, {2, 2, 2}}));
  EXPECT_EQ(getStacks(3, getRanks({4})), (Stacks{{2, 2, 2}}));  // half a matrix and 3/4, instead of 6/4
  EXPECT_EQ(getStacks(7, getRanks({8})), (Stacks{{7, 8, 8}}));
  EXPECT_EQ(getStacks(1, getRanks({4})), Stacks());
  // Two ranks cannot share 7 rows.
  EXPECT_EQ(getStacks(2, getRanks({4}), 7), Stacks());
  EXPECT_EQ(getStacks(4, getRanks({4}), 7), (Stacks{{4, 4, 4}}));
}

TEST(MatrixStacks, AreNotOfDifferentMatrices) {
  MatrixRanks two = getRanks({2});
  // Of two kinds, of two sizes with as many elements, and of none.
  EXPECT_TRUE(stackMatrices({{4, 8, 0}, {4, 8, 1}}, two).empty());
  EXPECT_TRUE(stackMatrices({{4, 8, 0}, {2, 16, 0}}, two).empty());
  EXPECT_TRUE(stackMatrices({{0, 8, 0}, {0, 8, 0}}, two).empty());
  EXPECT_EQ(getPositions(stackMatrices({{4, 8, 0}, {4, 8, 1}, {8, 4, 0}, {8, 4, 1}}, two)),
            (std::vector<unsigned>{0, 2, 1, 3}));
}

TEST(MatrixStacks, AreForSeveralRanks) { EXPECT_TRUE(getStacks(2, getRanks({1})).empty()); }

// Large ones have one matrix of each rank, so that few gradients wait for each other.
TEST(MatrixStacks, HoldFewLargeMatrices) {
  std::vector<StackableMatrix> matrices(8, {4096, 4096, 0});
  auto stacks = stackMatrices(matrices, getRanks({4}));
  ASSERT_EQ(stacks.size(), 2u);
  EXPECT_EQ(stacks[0].slots, 4);
}

TEST(MatrixStacks, OwnersDifferOnMajorAxes) {
  AxisPart a{0, 1, 4}, b{1, 1, 6};
  using Split = std::pair<AxisParts, AxisParts>;
  EXPECT_EQ(splitOwners({a, b}, 24), Split({a, b}, {}));
  EXPECT_EQ(splitOwners({a, b}, 1), Split({}, {a, b}));
  EXPECT_EQ(splitOwners({a, b}, 4), Split({a}, {b}));
  EXPECT_EQ(splitOwners({a, b}, 2), Split({{0, 1, 2}}, {{0, 2, 2}, b}));
  EXPECT_EQ(splitOwners({a, b}, 12), Split({a, {1, 1, 3}}, {{1, 3, 2}}));
  EXPECT_EQ(splitOwners({a, b}, 6), std::nullopt);
  EXPECT_EQ(splitOwners({a, b}, 5), std::nullopt);
}
