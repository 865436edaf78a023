// The walk with its stack against the recursive definition, written as text: "((0 1) 2)".
#include "runtime/comm/kernels/reduction_tree.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace sgd::comm {
namespace {

std::string Join(const std::string& left, const std::string& right) { return "(" + left + " " + right + ")"; }

std::string Definition(const std::vector<std::string>& values) {
  if (values.size() == 1) return values[0];
  size_t left = 1;
  while (2 * left < values.size()) left *= 2;
  return Join(Definition({values.begin(), values.begin() + static_cast<ptrdiff_t>(left)}),
              Definition({values.begin() + static_cast<ptrdiff_t>(left), values.end()}));
}

std::vector<std::string> Positions(uint32_t n) {
  std::vector<std::string> positions;
  for (uint32_t i = 0; i < n; ++i) positions.push_back(std::to_string(i));
  return positions;
}

std::string Walked(uint32_t n, uint32_t block = 4) {
  const std::vector<std::string> positions = Positions(n);
  std::vector<std::string> accumulators(TreeAccumulators(n, block));
  WalkReductionTree(
      n, block,
      [&](uint32_t first, uint32_t count, uint32_t accumulator) {
        EXPECT_TRUE(count >= 1 && count <= block);
        EXPECT_EQ(first % block, 0u);
        accumulators.at(accumulator) = Definition({positions.begin() + first, positions.begin() + first + count});
      },
      [&](uint32_t left) { accumulators.at(left) = Join(accumulators.at(left), accumulators.at(left + 1)); });
  return accumulators[0];
}

TEST(ReductionTree, IsWhatIsWritten) {
  EXPECT_EQ(Walked(1), "0");
  EXPECT_EQ(Walked(2), "(0 1)");
  EXPECT_EQ(Walked(3), "((0 1) 2)");
  EXPECT_EQ(Walked(5), "(((0 1) (2 3)) 4)");
  EXPECT_EQ(Walked(7), "(((0 1) (2 3)) ((4 5) 6))");
  EXPECT_EQ(Walked(12), "((((0 1) (2 3)) ((4 5) (6 7))) ((8 9) (10 11)))");
}

TEST(ReductionTree, WalkFollowsTheDefinition) {
  for (const uint32_t block : {1, 2, 4, 8}) {
    for (uint32_t n = 1; n <= 130; ++n) EXPECT_EQ(Walked(n, block), Definition(Positions(n)));
  }
  for (uint32_t n : {255, 256, 257, 1000, 1024}) EXPECT_EQ(Walked(n), Definition(Positions(n)));
}

// This property allows hosts to reduce their own ranks first.
TEST(ReductionTree, AlignedBlocksAreNodes) {
  for (uint32_t n = 1; n <= 40; ++n) {
    const std::vector<std::string> positions = Positions(n);
    for (uint32_t block = 1; block <= 64; block *= 2) {
      std::vector<std::string> blocks;
      for (uint32_t first = 0; first < n; first += block) {
        blocks.push_back(Definition({positions.begin() + first, positions.begin() + std::min(n, first + block)}));
      }
      EXPECT_EQ(Definition(blocks), Walked(n)) << n << " positions in blocks of " << block;
    }
  }
}

}  // namespace
}  // namespace sgd::comm
