// Parts of cores are disjoint, nearly equal and inside the mask.
#include "runtime/launch/core_assignment.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>

#include <algorithm>

namespace sgd::launch {
namespace {

using ::testing::ElementsAre;

TEST(CoreAssignment, CutsCoresIntoContiguousParts) {
  EXPECT_THAT(AssignCores({4, 0, 5, 1}, 2), ElementsAre(ElementsAre(4, 0), ElementsAre(5, 1)));
  EXPECT_THAT(AssignCores({0, 1, 2}, 2), ElementsAre(ElementsAre(0), ElementsAre(1, 2)));
  EXPECT_TRUE(AssignCores({0, 1}, 3).empty());
  EXPECT_TRUE(AssignCores({0, 1}, 0).empty());
}

TEST(CoreAssignment, UsesAndKeepsTheProcessMask) {
  cpu_set_t before;
  sched_getaffinity(0, sizeof(before), &before);
  std::vector<int> cores = AllowedCores();
  EXPECT_EQ(cores.size(), static_cast<size_t>(CPU_COUNT(&before)));
  for (int core : cores) EXPECT_TRUE(CPU_ISSET(core, &before));
  BindToCores({cores[0]});
  EXPECT_THAT(AllowedCores(), ElementsAre(cores[0]));
  sched_setaffinity(0, sizeof(before), &before);
}

}  // namespace
}  // namespace sgd::launch
