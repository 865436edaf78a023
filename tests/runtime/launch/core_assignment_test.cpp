// Parts of cores are disjoint, nearly equal and inside the mask.
#include "runtime/launch/core_assignment.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>

#include <algorithm>

namespace sgd::launch {
namespace {

using ::testing::ElementsAre;

// Cores 0, 1, ... on nodes of the given sizes.
std::vector<Core> OnNodes(std::vector<int> sizes) {
  std::vector<Core> cores;
  for (size_t node = 0; node < sizes.size(); ++node) {
    for (int i = 0; i < sizes[node]; ++i) cores.push_back({static_cast<int>(cores.size()), static_cast<int>(node)});
  }
  return cores;
}

TEST(CoreAssignment, CutsCoresIntoContiguousParts) {
  EXPECT_THAT(AssignCores({{4, 0}, {0, 0}, {5, 0}, {1, 0}}, 2), ElementsAre(ElementsAre(4, 0), ElementsAre(5, 1)));
  EXPECT_THAT(AssignCores(OnNodes({3}), 2), ElementsAre(ElementsAre(0), ElementsAre(1, 2)));
  EXPECT_TRUE(AssignCores(OnNodes({2}), 3).empty());
  EXPECT_TRUE(AssignCores(OnNodes({2}), 0).empty());
  EXPECT_TRUE(AssignCores({}, 1).empty());
}

TEST(CoreAssignment, LeavesOutCoresThatAreAvoided) {
  EXPECT_THAT(CoresWithout(OnNodes({2, 2}), {1, 2, 9}), ElementsAre(Core{0, 0}, Core{3, 1}));
  EXPECT_TRUE(CoresWithout(OnNodes({1}), {0}).empty());
}

TEST(CoreAssignment, KeepsARankOnANodeWhereThatCostsNoCores) {
  EXPECT_THAT(AssignCores(OnNodes({2, 3}), 2), ElementsAre(ElementsAre(0, 1), ElementsAre(2, 3, 4)));
  EXPECT_THAT(AssignCores(OnNodes({4, 4}), 3),
              ElementsAre(ElementsAre(0, 1), ElementsAre(2, 3), ElementsAre(4, 5, 6, 7)));
  EXPECT_THAT(AssignCores(OnNodes({2, 2}), 1), ElementsAre(ElementsAre(0, 1, 2, 3)));
  // One of two ranks would get two cores of six.
  EXPECT_THAT(AssignCores(OnNodes({4, 2}), 2), ElementsAre(ElementsAre(0, 1, 2), ElementsAre(3, 4, 5)));
}

TEST(CoreAssignment, PartsAreDisjointAndNeverSmallerThanAnEvenDivisionGives) {
  for (int first = 0; first <= 5; ++first) {
    for (int second = 0; second <= 5; ++second) {
      for (int third = 0; third <= 5; ++third) {
        const std::vector<Core> cores = OnNodes({first, second, third});
        for (uint32_t ranks = 1; ranks <= cores.size(); ++ranks) {
          std::vector<int> all;
          const std::vector<std::vector<int>> parts = AssignCores(cores, ranks);
          ASSERT_EQ(parts.size(), ranks);
          for (const std::vector<int>& part : parts) {
            EXPECT_GE(part.size(), cores.size() / ranks);
            all.insert(all.end(), part.begin(), part.end());
          }
          EXPECT_TRUE(std::ranges::is_sorted(all));
          EXPECT_EQ(std::ranges::adjacent_find(all), all.end());
        }
      }
    }
  }
}

TEST(CoreAssignment, ReadsListsOfCores) {
  EXPECT_THAT(ParseCoreList("0-3,8"), ElementsAre(0, 1, 2, 3, 8));
  EXPECT_THAT(ParseCoreList("5"), ElementsAre(5));
  EXPECT_THAT(ParseCoreList("\n"), ElementsAre());
  EXPECT_THAT(ParseCoreList("x,2-y"), ElementsAre(2));
}

TEST(CoreAssignment, UsesAndKeepsTheProcessMask) {
  cpu_set_t before;
  sched_getaffinity(0, sizeof(before), &before);
  std::vector<Core> cores = AllowedCores();
  EXPECT_EQ(cores.size(), static_cast<size_t>(CPU_COUNT(&before)));
  for (const Core& core : cores) EXPECT_TRUE(CPU_ISSET(core.id, &before));
  BindToCores({cores[0].id});
  EXPECT_THAT(AllowedCores(), ElementsAre(cores[0]));
  sched_setaffinity(0, sizeof(before), &before);
}

}  // namespace
}  // namespace sgd::launch
