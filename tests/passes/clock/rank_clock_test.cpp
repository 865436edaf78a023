#include "passes/clock/rank_clock.h"

#include "passes/clock/ring.h"

#include "gtest/gtest.h"

namespace mlir::sgd {
namespace {

TEST(RankClock, LinksWorkBesideStreams) {
  RankClock clock;
  clock.run(1);
  RankClock::Flight first = clock.start(5), second = clock.start(2);
  EXPECT_EQ(first.begin, 1);
  EXPECT_EQ(first.end, 6);
  EXPECT_EQ(second.begin, 6);
  EXPECT_EQ(second.end, 8);
  clock.run(3);
  EXPECT_EQ(clock.getNow(), 4);
  EXPECT_EQ(clock.waitUntil(first.end), 2);
  EXPECT_EQ(clock.waitUntil(first.end), 0);
  EXPECT_EQ(clock.getNow(), 6);
  EXPECT_EQ(clock.getFree(), 8);
}

TEST(RankClock, StreamsAndLinksAreIndependent) {
  RankClock clock(/*numStreams=*/2, /*numLinks=*/2);
  clock.run(1, /*stream=*/1);
  EXPECT_EQ(clock.start(4, /*link=*/0, /*stream=*/1).end, 5);
  EXPECT_EQ(clock.start(4, /*link=*/1, /*stream=*/0).end, 4);
  EXPECT_EQ(clock.getNow(0), 0);
  EXPECT_EQ(clock.waitUntil(5, 0), 5);
  EXPECT_EQ(clock.getNow(1), 1);
}

TEST(Ring, TakesTheLongerOfComputeAndExchange) {
  EXPECT_EQ(getRingSeconds(1, 3, 100), 3);
  EXPECT_EQ(getRingSeconds(4, 3, 2), 12);
  EXPECT_EQ(getRingSeconds(4, 3, 5), 3 * 5 + 3);
}

}  // namespace
}  // namespace mlir::sgd
