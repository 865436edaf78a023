// The best assignment is the best of all, and unique when no other is as good.
#include "passes/graph/carry/assignment.h"

#include <gtest/gtest.h>

using namespace mlir::sgd;

namespace {

CarryEdge edge(unsigned from, unsigned to, unsigned level, unsigned count = 1) {
  CarryEdge edge = {from, to, {}};
  edge.score[level] = count;
  return edge;
}

std::string describe(const std::optional<CarryAssignment>& assignment) {
  if (!assignment) return "too many";
  std::string text = assignment->isUnique ? "" : "one of several:";
  for (const CarryEdge& edge : assignment->edges)
    text += (text.empty() ? "" : " ") + std::to_string(edge.from) + "-" + std::to_string(edge.to);
  return text;
}

TEST(CarryAssignment, OneStrongWitnessOutweighsWeakerOnes) {
  // Parameters that are decayed into momentum: p' = p - m', m' = 0.9 m + g + 0.1 p.
  EXPECT_EQ(describe(findBestAssignment(2, 2, {edge(0, 0, 0), edge(0, 1, 3, 9), edge(1, 0, 3, 9), edge(1, 1, 3)})),
            "0-0 1-1");
  EXPECT_EQ(describe(findBestAssignment(2, 2, {edge(0, 1, 0), edge(1, 0, 0), edge(0, 0, 3), edge(1, 1, 3)})),
            "0-1 1-0");
}

TEST(CarryAssignment, SymmetryIsNoDecision) {
  auto both = findBestAssignment(2, 2, {edge(0, 0, 0), edge(0, 1, 0), edge(1, 0, 0), edge(1, 1, 0)});
  ASSERT_TRUE(both);
  EXPECT_FALSE(both->isUnique);
  EXPECT_EQ(both->edges.size(), 2u);
}

TEST(CarryAssignment, SomeStayAlone) {
  EXPECT_EQ(describe(findBestAssignment(2, 1, {edge(0, 0, 3), edge(1, 0, 0)})), "1-0");
  EXPECT_EQ(describe(findBestAssignment(0, 0, {})), "");
}

TEST(CarryAssignment, ManyCandidatesAreRefused) {
  EXPECT_EQ(describe(findBestAssignment(kMostCandidates + 1, 1, {edge(0, 0, 0)})), "too many");
  EXPECT_EQ(describe(findBestAssignment(1, kMostCandidates + 1, {edge(0, 0, 0)})), "too many");
}

// Against all subsets of edges, over many graphs.
TEST(CarryAssignment, IsTheBestOfAll) {
  uint64_t state = 1;
  auto next = [&](unsigned below) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return static_cast<unsigned>((state >> 33) % below);
  };
  for (int round = 0; round < 300; ++round) {
    unsigned numFrom = 1 + next(3), numTo = 1 + next(3);
    std::vector<CarryEdge> edges;
    for (unsigned from = 0; from < numFrom; ++from)
      for (unsigned to = 0; to < numTo; ++to)
        if (next(3) > 0) edges.push_back(edge(from, to, next(3), 1 + next(2)));
    CarryScore best = {};
    unsigned count = 0;
    for (unsigned subset = 0; subset < 1u << edges.size(); ++subset) {
      unsigned fromTaken = 0, toTaken = 0;
      CarryScore total = {};
      bool isAssignment = true;
      for (size_t i = 0; i < edges.size(); ++i) {
        if (!(subset >> i & 1)) continue;
        isAssignment = isAssignment && !(fromTaken >> edges[i].from & 1) && !(toTaken >> edges[i].to & 1);
        fromTaken |= 1u << edges[i].from;
        toTaken |= 1u << edges[i].to;
        for (size_t level = 0; level < total.size(); ++level) total[level] += edges[i].score[level];
      }
      if (!isAssignment || total < best) continue;
      count = total == best ? count + 1 : 1;
      best = total;
    }
    auto found = findBestAssignment(numFrom, numTo, edges);
    ASSERT_TRUE(found);
    CarryScore total = {};
    for (const CarryEdge& edge : found->edges)
      for (size_t level = 0; level < total.size(); ++level) total[level] += edge.score[level];
    EXPECT_EQ(total, best);
    EXPECT_EQ(found->isUnique, count == 1);
  }
}

}  // namespace
