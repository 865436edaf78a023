// The ring rule, by hand.
#include "runtime/comm/collectives/sent_bytes.h"

#include <gtest/gtest.h>

#include <vector>

#include "runtime/comm/collectives/tile_range.h"

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

constexpr SubAxis kMajor{2, 2}, kMinor{1, 2};

std::vector<uint64_t> SentOfRanges(const std::vector<SubAxis>& tiles, const std::vector<SubAxis>& results,
                                   const TileRange& range) {
  std::vector<uint64_t> sent(4);
  AddSentBytes(tiles, results, range, 1, sent);
  return sent;
}

TEST(AddSentBytes, CountsWhatOthersNeed) {
  using Sent = std::vector<uint64_t>;
  const std::vector<SubAxis> four = {kMajor, kMinor}, minor = {kMinor};
  // A halo of one on both sides.
  EXPECT_EQ(SentOfRanges(four, four, {.size = 8, .tile = 2, .length = 4, .scale = 2, .offset = -1}),
            (Sent{1, 2, 2, 1}));
  // Wider than a tile: rank 1 sends two to its neighbours and the one that rank 3 reaches.
  EXPECT_EQ(SentOfRanges(four, four, {.size = 8, .tile = 2, .length = 8, .scale = 2, .offset = -3}),
            (Sent{3, 5, 5, 3}));
  // Everything to everybody.
  EXPECT_EQ(SentOfRanges(four, {}, {.size = 8, .tile = 2, .length = 8}), (Sent{6, 6, 6, 6}));
  // Only within groups of two.
  EXPECT_EQ(SentOfRanges(minor, minor, {.size = 4, .tile = 2, .length = 3, .scale = 2}), (Sent{0, 1, 0, 1}));
  // Tiles that stay where they are, and an empty dimension.
  EXPECT_EQ(SentOfRanges(four, four, {.size = 7, .tile = 2, .length = 2, .scale = 2}), (Sent{0, 0, 0, 0}));
  EXPECT_EQ(SentOfRanges(four, four, {.size = 0, .tile = 0, .length = 2, .scale = 2}), (Sent{0, 0, 0, 0}));
}

}  // namespace
}  // namespace sgd::comm
