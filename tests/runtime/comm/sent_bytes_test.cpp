// The ring rule, by hand.
#include "runtime/comm/sent_bytes.h"

#include <gtest/gtest.h>

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
  for (int kind = 0; kind < 6; ++kind) {
    EXPECT_EQ(SentBytes(static_cast<CollectiveKind>(kind), 1, 100), 0u);
  }
}

}  // namespace
}  // namespace sgd::comm
