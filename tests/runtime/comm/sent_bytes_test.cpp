// The ring rule, by hand.
#include "runtime/comm/sent_bytes.h"

#include <gtest/gtest.h>

#include "runtime/comm/tile_range.h"

namespace sgd::comm {
namespace {

TEST(SentBytes, FollowsTheRingRule) {
  EXPECT_EQ(SentBytes(CollectiveKind::kAllReduce, 4, 4), 6u);
  EXPECT_EQ(SentBytes(CollectiveKind::kAllReduce, 2, 1000), 1000u);
  EXPECT_EQ(SentBytes(CollectiveKind::kAllGather, 4, 4000), 3000u);
  EXPECT_EQ(SentBytes(CollectiveKind::kReduceScatter, 8, 800), 700u);
  EXPECT_EQ(SentBytes(CollectiveKind::kAllToAll, 2, 64), 32u);
  EXPECT_EQ(SentBytes(CollectiveKind::kBroadcast, 4, 64), 48u);
  EXPECT_EQ(SentBytes(CollectiveKind::kPermute, 4, 64), 64u);
}

TEST(SentBytes, RoundsDownOnceAndDoesNotOverflow) {
  EXPECT_EQ(SentBytes(CollectiveKind::kAllReduce, 3, 4), 5u);  // 16/3
  EXPECT_EQ(SentBytes(CollectiveKind::kAllGather, 3, 5), 3u);  // 10/3
  const uint64_t large = uint64_t{1} << 62;
  EXPECT_EQ(SentBytes(CollectiveKind::kAllReduce, 4, large), large / 4 * 6);
}

TEST(SentBytes, ARankAloneSendsNothing) {
  for (int kind = 0; kind < 7; ++kind) {
    EXPECT_EQ(SentBytes(static_cast<CollectiveKind>(kind), 1, 100), 0u);
  }
}

constexpr RankDigit kMajor{2, 2}, kMinor{1, 2};

TEST(MostSentElements, CountsWhatOthersNeed) {
  const std::vector<RankDigit> four = {kMajor, kMinor};
  // A halo of one on both sides: inner ranks send one element to each neighbour.
  EXPECT_EQ(MostSentElements(4, four, four, {.size = 8, .tile = 2, .length = 4, .scale = 2, .offset = -1}), 2u);
  // Wider than a tile: rank 1 sends two to rank 0, two to rank 2, one to rank 3.
  EXPECT_EQ(MostSentElements(4, four, four, {.size = 8, .tile = 2, .length = 8, .scale = 2, .offset = -3}), 5u);
  // Everything to everybody.
  EXPECT_EQ(MostSentElements(4, four, {}, {.size = 8, .tile = 2, .length = 8}), 6u);
  // Only within groups of two.
  const std::vector<RankDigit> minor = {kMinor};
  EXPECT_EQ(MostSentElements(4, minor, minor, {.size = 4, .tile = 2, .length = 3, .scale = 2}), 1u);
  // Tiles that stay where they are, and an empty dimension.
  EXPECT_EQ(MostSentElements(4, four, four, {.size = 7, .tile = 2, .length = 2, .scale = 2}), 0u);
  EXPECT_EQ(MostSentElements(4, four, four, {.size = 0, .tile = 0, .length = 2, .scale = 2}), 0u);
}

}  // namespace
}  // namespace sgd::comm
