#include "passes/time/sequential/minimum_cut.h"

#include <random>

#include "gtest/gtest.h"

namespace mlir::sgd {
namespace {

TEST(MinimumCutTest, CutsTheCheapestEdges) {
  MinimumCut cut;
  unsigned a = cut.addNode(), b = cut.addNode(), c = cut.addNode();
  cut.addEdge(MinimumCut::kSource, a, MinimumCut::kInfinite);
  cut.addEdge(a, b, 3);
  cut.addEdge(a, c, 1);
  cut.addEdge(b, c, 1);
  cut.addEdge(c, MinimumCut::kSink, MinimumCut::kInfinite);
  std::vector<bool> sinkSide = cut.getSinkSide();
  EXPECT_FALSE(sinkSide[a]);
  EXPECT_FALSE(sinkSide[b]);
  EXPECT_TRUE(sinkSide[c]);
}

TEST(MinimumCutTest, CutsLateAmongEquals) {
  MinimumCut cut;
  unsigned a = cut.addNode(), b = cut.addNode(), alone = cut.addNode();
  cut.addEdge(MinimumCut::kSource, a, 2);
  cut.addEdge(a, b, 2);
  cut.addEdge(b, MinimumCut::kSink, 2);
  std::vector<bool> sinkSide = cut.getSinkSide();
  EXPECT_FALSE(sinkSide[a]);
  EXPECT_FALSE(sinkSide[b]);
  EXPECT_FALSE(sinkSide[alone]);
}

/// Against all cuts of small graphs.
TEST(MinimumCutTest, IsTheCheapestOfAll) {
  std::mt19937 random(1);
  for (int round = 0; round < 200; ++round) {
    constexpr unsigned kNodes = 7;
    int64_t capacities[kNodes][kNodes] = {};
    MinimumCut cut;
    for (unsigned node = 2; node < kNodes; ++node) cut.addNode();
    for (unsigned edge = 0; edge < 14; ++edge) {
      unsigned from = random() % kNodes, to = random() % kNodes;
      if (from == to) continue;
      int64_t capacity = random() % 9;
      capacities[from][to] += capacity;
      cut.addEdge(from, to, capacity);
    }
    auto getCost = [&](auto isSinkSide) {
      int64_t cost = 0;
      for (unsigned from = 0; from < kNodes; ++from)
        for (unsigned to = 0; to < kNodes; ++to)
          if (!isSinkSide(from) && isSinkSide(to)) cost += capacities[from][to];
      return cost;
    };
    int64_t least = INT64_MAX;
    for (unsigned mask = 0; mask < 1u << kNodes; ++mask)
      if (!(mask & 1) && (mask & 2))
        least = std::min(least, getCost([&](unsigned node) { return (mask >> node & 1) != 0; }));
    std::vector<bool> sinkSide = cut.getSinkSide();
    EXPECT_EQ(getCost([&](unsigned node) { return sinkSide[node]; }), least) << "round " << round;
  }
}

}  // namespace
}  // namespace mlir::sgd
