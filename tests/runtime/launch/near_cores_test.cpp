// Shares of cores near devices: disjoint, near where that is known, and never none.
#include "runtime/launch/near_cores.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>
#include <set>

namespace sgd::launch {
namespace {

using ::testing::ElementsAre;

std::vector<int> Cores(int begin, int end) {
  std::vector<int> cores(static_cast<size_t>(end - begin));
  std::iota(cores.begin(), cores.end(), begin);
  return cores;
}

TEST(NearCores, RanksNearTheSameCoresDivideThem) {
  // Four ranks were bound to quarters in order; the devices of 0 and 3 are near the upper half.
  const std::vector<RankPlace> ranks = {{"a", Cores(0, 4), Cores(8, 16)},
                                        {"a", Cores(4, 8), Cores(0, 8)},
                                        {"a", Cores(8, 12), Cores(0, 8)},
                                        {"a", Cores(12, 16), Cores(8, 16)}};
  EXPECT_EQ(ShareOfNearCores(ranks, 0), Cores(8, 12));
  EXPECT_EQ(ShareOfNearCores(ranks, 1), Cores(0, 4));
  EXPECT_EQ(ShareOfNearCores(ranks, 2), Cores(4, 8));
  EXPECT_EQ(ShareOfNearCores(ranks, 3), Cores(12, 16));
}

TEST(NearCores, OtherHostsDoNotCount) {
  const std::vector<RankPlace> ranks = {{"a", Cores(0, 2), Cores(0, 4)}, {"b", Cores(2, 4), Cores(0, 4)}};
  EXPECT_EQ(ShareOfNearCores(ranks, 0), Cores(0, 2));  // 2 and 3 are not this job's here
  EXPECT_EQ(ShareOfNearCores(ranks, 1), Cores(2, 4));
}

TEST(NearCores, OwnCoresWhereNothingIsKnownOrTooFewAreNear) {
  const std::vector<RankPlace> unknown = {{"a", Cores(0, 2), {}}, {"a", Cores(2, 4), {}}};
  EXPECT_EQ(ShareOfNearCores(unknown, 1), Cores(2, 4));
  const std::vector<RankPlace> far = {{"a", Cores(0, 2), {99}}, {"a", Cores(2, 4), {99}}};
  EXPECT_EQ(ShareOfNearCores(far, 0), Cores(0, 2));
}

TEST(NearCores, SharesAreDisjointAndNotEmpty) {
  for (int count = 1; count <= 9; ++count) {
    std::vector<RankPlace> ranks;
    for (int i = 0; i < count; ++i) ranks.push_back({"a", Cores(0, 16), i % 2 == 0 ? Cores(0, 7) : Cores(7, 16)});
    std::set<int> seen;
    size_t total = 0;
    for (uint32_t i = 0; i < ranks.size(); ++i) {
      const std::vector<int> share = ShareOfNearCores(ranks, i);
      EXPECT_FALSE(share.empty());
      seen.insert(share.begin(), share.end());
      total += share.size();
    }
    EXPECT_EQ(seen.size(), total);
  }
}

TEST(NearCores, TextsAreReadBack) {
  const RankPlace place{"host", {3, 4, 7}, {1}};
  const absl::StatusOr<RankPlace> read = RankPlace::Parse(place.Text());
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(read->host, "host");
  EXPECT_THAT(read->cores, ElementsAre(3, 4, 7));
  EXPECT_THAT(read->near, ElementsAre(1));
  EXPECT_FALSE(RankPlace::Parse("host").ok());
}

TEST(NearCores, ThisProcessHasCores) {
  const RankPlace place = PlaceOfThisProcess("0-1");
  EXPECT_FALSE(place.host.empty());
  EXPECT_FALSE(place.cores.empty());
  EXPECT_THAT(place.near, ElementsAre(0, 1));
}

}  // namespace
}  // namespace sgd::launch
