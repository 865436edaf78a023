// How long ranks wait for one that makes no progress.
#include "runtime/exec/wait_limit.h"

#include <gtest/gtest.h>

namespace sgd::exec {
namespace {

constexpr absl::Duration kDeadline = absl::Seconds(300);

WaitLimit After(absl::Duration step, int steps, absl::Duration deadline = kDeadline) {
  WaitLimit limit(deadline);
  for (int i = 0; i < steps; ++i) limit.StepAfter(step);
  return limit;
}

TEST(WaitLimit, IsTheDeadlineUntilStepsAreKnown) {
  EXPECT_EQ(After(absl::Seconds(1), 0).value(), kDeadline);
  EXPECT_EQ(After(absl::Seconds(1), 2).value(), kDeadline);
}

TEST(WaitLimit, FollowsTheLongestStep) {
  EXPECT_EQ(After(absl::Milliseconds(1), 3).value(), absl::Seconds(20));
  EXPECT_EQ(After(absl::Seconds(3), 3).value(), absl::Seconds(60));
  WaitLimit limit = After(absl::Milliseconds(1), 100);
  limit.StepAfter(absl::Seconds(5));
  limit.StepAfter(absl::Milliseconds(1));
  EXPECT_EQ(limit.value(), absl::Seconds(100));
}

TEST(WaitLimit, IsNeverMoreThanTheDeadline) {
  EXPECT_EQ(After(absl::Seconds(30), 5).value(), kDeadline);
  EXPECT_EQ(After(absl::Milliseconds(1), 5, absl::Seconds(2)).value(), absl::Seconds(2));
}

TEST(WaitLimit, AllowsForWhatRanksDoBetweenSteps) {
  WaitLimit limit = After(absl::Milliseconds(1), 5);
  limit.AllowDelay();
  EXPECT_EQ(limit.value(), kDeadline);
  limit.StepAfter(absl::Milliseconds(1));
  EXPECT_EQ(limit.value(), absl::Seconds(20));
}

}  // namespace
}  // namespace sgd::exec
