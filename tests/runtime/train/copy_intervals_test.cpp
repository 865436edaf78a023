// How often copies are made, by what they cost; all ranks decide alike.
#include "runtime/train/copy_intervals.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <mutex>
#include <set>

#include "absl/time/clock.h"
#include "tests/runtime/comm/meeting_threads.h"

namespace sgd::train {
namespace {

using ::testing::HasSubstr;

TEST(CopyIntervals, CopiesTakeASmallShareOfTheTime) {
  const absl::Duration step = absl::Milliseconds(10);
  EXPECT_EQ(StepsBetweenCopies({absl::ZeroDuration(), absl::ZeroDuration()}, step), 1u);
  EXPECT_EQ(StepsBetweenCopies({absl::Milliseconds(1), absl::ZeroDuration()}, step), 10u);
  // A link that is slower than half of the time between copies allows.
  EXPECT_EQ(StepsBetweenCopies({absl::Milliseconds(1), absl::Milliseconds(100)}, step), 20u);
  EXPECT_EQ(StepsBetweenCopies({absl::Hours(1000), absl::ZeroDuration()}, absl::ZeroDuration()), 100'000u);
  for (const int stall : {1, 3, 17, 200}) {
    const uint64_t every = StepsBetweenCopies({absl::Milliseconds(stall), absl::ZeroDuration()}, step);
    EXPECT_LE(stall / (stall + 10.0 * every), 0.01) << every;
    EXPECT_GT(stall / (stall + 10.0 * (every - 1)), 0.01) << "no rarer than need be";
  }
}

TEST(CopyIntervals, TheSlowestRankDecidesForAll) {
  std::mutex mutex;
  std::set<uint64_t> decided;
  const std::vector<absl::Status> outcomes = comm::RunMeetingRanks(3, [&](comm::Control& control) -> absl::Status {
    CopyIntervals intervals({.every = 1, .by_cost = true}, 0);
    // Rank 1 has a slow link.
    const CopyCost cost = {absl::Microseconds(10), control.rank() == 1 ? absl::Seconds(10) : absl::ZeroDuration()};
    std::vector<bool> told;
    for (uint64_t steps = 1; steps <= 7; ++steps) {
      absl::SleepFor(absl::Milliseconds(2));
      const absl::StatusOr<bool> is_told = intervals.Copied(steps, cost, control, absl::Seconds(30));
      if (!is_told.ok()) return is_told.status();
      told.push_back(*is_told);
      if (steps < 3 && intervals.every() != 1) return absl::InternalError("decided before it was measured");
    }
    if (!told[2] || intervals.every() < 2) return absl::InternalError("not decided after three copies");
    const std::string text = intervals.Text(uint64_t{100} << 20);
    EXPECT_THAT(text, HasSubstr("--peer-copies auto: a copy takes 10 us of steps of "));
    EXPECT_THAT(text,
                HasSubstr("and 10 s beside them to the next host (10.00 MiB/s of a rank); copies are made every"));
    const std::lock_guard lock(mutex);
    decided.insert(intervals.every());
    return absl::OkStatus();
  });
  for (const absl::Status& outcome : outcomes) EXPECT_TRUE(outcome.ok()) << outcome;
  EXPECT_EQ(decided.size(), 1u);
}

TEST(CopyIntervals, FixedOnesStayAndAskNobody) {
  const std::vector<absl::Status> outcomes = comm::RunMeetingRanks(1, [&](comm::Control& control) -> absl::Status {
    CopyIntervals intervals({.every = 4, .by_cost = false}, 0);
    for (uint64_t steps = 4; steps <= 40; steps += 4) {
      const absl::StatusOr<bool> told =
          intervals.Copied(steps, {absl::Seconds(1), absl::Seconds(1)}, control, absl::Seconds(1));
      if (!told.ok() || *told || intervals.every() != 4) return absl::InternalError("it has changed");
    }
    return absl::OkStatus();
  });
  for (const absl::Status& outcome : outcomes) EXPECT_TRUE(outcome.ok()) << outcome;
}

}  // namespace
}  // namespace sgd::train
