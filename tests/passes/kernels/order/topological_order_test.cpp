// The order stays topological while random edges are added and nodes merge, and moves nothing that need not move.
#include "passes/kernels/order/topological_order.h"

#include <random>
#include <set>

#include "gtest/gtest.h"

namespace mlir::sgd {
namespace {

TEST(TopologicalOrder, StartsAsGiven) {
  TopologicalOrder order(4);
  EXPECT_TRUE(order.isBefore(0, 1));
  EXPECT_TRUE(order.isBefore(2, 3));
  EXPECT_FALSE(order.isBefore(3, 3));
  TopologicalOrder none(0);
}

TEST(TopologicalOrder, MovedNodesKeepTheirOrder) {
  TopologicalOrder order(6);
  std::vector<unsigned> nodes = {3, 0, 1};
  order.moveBehind(nodes, 4);
  EXPECT_EQ(nodes, (std::vector<unsigned>{0, 1, 3}));
  const std::vector<unsigned> expected = {2, 4, 0, 1, 3, 5};
  for (size_t i = 0; i + 1 < expected.size(); ++i) EXPECT_TRUE(order.isBefore(expected[i], expected[i + 1])) << i;
}

TEST(TopologicalOrder, GapsNeverRunOut) {
  TopologicalOrder order(500);
  std::vector<unsigned> expected;
  for (unsigned node = 0; node < 499; ++node) {
    order.moveBehind(node, 499);
    expected.insert(expected.begin(), node);
  }
  for (size_t i = 0; i + 1 < expected.size(); ++i) ASSERT_TRUE(order.isBefore(expected[i], expected[i + 1])) << i;
  EXPECT_TRUE(order.isBefore(499, 498));
}

/// Edges between random nodes, refused when they close a circle, as a search over all nodes finds it.
TEST(TopologicalOrder, RandomEdges) {
  for (unsigned seed = 0; seed < 50; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    constexpr unsigned kSize = 40;
    TopologicalOrder order(kSize);
    std::vector<std::set<unsigned>> successors(kSize);
    auto search = [&](unsigned from, unsigned to, bool isPruned, std::vector<unsigned>& seen) {
      seen = {from};
      for (size_t i = 0; i < seen.size(); ++i)
        for (unsigned next : successors[seen[i]]) {
          if (next == to) return true;
          bool isNew = std::find(seen.begin(), seen.end(), next) == seen.end();
          if (isNew && (!isPruned || order.isBefore(next, to))) seen.push_back(next);
        }
      return false;
    };
    for (int edge = 0; edge < 150; ++edge) {
      unsigned from = random() % kSize, to = random() % kSize;
      std::vector<unsigned> between, all;
      bool isCircle = from == to || search(to, from, /*isPruned=*/false, all);
      if (from != to && order.isBefore(to, from)) {
        ASSERT_EQ(search(to, from, /*isPruned=*/true, between), isCircle);
        if (!isCircle) order.moveBehind(between, from);
      }
      if (isCircle) continue;
      successors[from].insert(to);
      for (unsigned node = 0; node < kSize; ++node)
        for (unsigned next : successors[node]) ASSERT_TRUE(order.isBefore(node, next));
    }
  }
}

}  // namespace
}  // namespace mlir::sgd
