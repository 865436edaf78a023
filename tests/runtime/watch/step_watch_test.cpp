// Ranks that are threads measure made-up steps; rank 0 finds the slow one.
#include "runtime/watch/step_watch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sched.h>
#include <time.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "absl/time/clock.h"
#include "nlohmann/json.hpp"
#include "runtime/watch/core_delay.h"
#include "runtime/watch/places.h"
#include "runtime/watch/timed_agreements.h"
#include "tests/runtime/comm/rank_threads.h"

namespace sgd::watch {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr absl::Duration kDeadline = absl::Seconds(60);
constexpr uint64_t kSteps = 40;

std::unique_ptr<StepWatch> Watch(comm::Control& control, bool measures_waits = true) {
  auto watch = StepWatch::Create(
      control,
      {.place = {.host = "h", .cores = "core 0", .group = 0}, .measures_waits = measures_waits, .deadline = kDeadline});
  EXPECT_TRUE(watch.ok()) << watch.status();
  return *std::move(watch);
}

// Steps of 1 ms in which the last rank computes and the others wait for it.
std::vector<Straggler> FoundAmong(uint32_t ranks, bool measures_waits) {
  std::vector<Straggler> found;
  std::atomic<uint32_t> done = 0;
  comm::RunAsThreads(ranks, 0, [&](comm::SharedMemoryCommunicator& communicator) {
    comm::Control& control = communicator.control();
    std::unique_ptr<StepWatch> watch = Watch(control, measures_waits);
    const bool is_slow = control.rank() + 1 == ranks;
    for (uint64_t step = 0; step < kSteps; ++step) {
      watch->InputsFilled(absl::Microseconds(1));
      watch->StepEnded(step, absl::Milliseconds(1), is_slow ? absl::ZeroDuration() : absl::Microseconds(400));
      // One after the other, so that no rank overwrites a sample that was not seen.
      ASSERT_TRUE(control.Barrier(kDeadline).ok());
      if (control.rank() == 0) {
        absl::SleepFor(absl::Milliseconds(1));
        for (const Straggler& straggler : watch->FindStragglers()) found.push_back(straggler);
      }
      ASSERT_TRUE(control.Barrier(kDeadline).ok());
    }
    if (control.rank() == 0) {
      for (uint32_t rank = 0; rank < ranks; ++rank) {
        ASSERT_TRUE(watch->StateOf(rank).has_value());
        EXPECT_EQ(watch->StateOf(rank)->steps, kSteps);
        EXPECT_GT(watch->StateOf(rank)->resident_bytes, 0);
        EXPECT_EQ(watch->places()[rank].host, "h");
      }
    }
    ASSERT_TRUE(control.Barrier(kDeadline).ok());
    ++done;
  });
  EXPECT_EQ(done, ranks);
  return found;
}

TEST(StepWatch, RankZeroFindsTheRankThatAllWaitFor) {
  for (uint32_t ranks : {2u, 3u}) {
    const std::vector<Straggler> found = FoundAmong(ranks, true);
    ASSERT_THAT(found, SizeIs(1));
    EXPECT_EQ(found[0].rank, ranks - 1);
    EXPECT_NEAR(found[0].seconds, 4e-4, 1e-6);
  }
}

TEST(StepWatch, FindsNobodyWhereWaitsAreNotMeasured) { EXPECT_THAT(FoundAmong(2, false), IsEmpty()); }

TEST(StepWatch, CountsCheckpointsAndTheirStalls) {
  comm::RunAsThreads(1, 0, [&](comm::SharedMemoryCommunicator& communicator) {
    std::unique_ptr<StepWatch> watch = Watch(communicator.control());
    EXPECT_FALSE(watch->StateOf(0).has_value());
    watch->StepEnded(7, absl::Milliseconds(2), absl::Milliseconds(1));
    watch->Saved(absl::Milliseconds(5), absl::Milliseconds(2));
    watch->StepEnded(8, absl::Milliseconds(2), absl::Milliseconds(1));
    const RankState state = watch->StateOf(0).value();
    EXPECT_EQ(state.checkpoints, 1);
    EXPECT_NEAR(state.stalled_seconds, 0.005, 1e-9);
    EXPECT_EQ(state.Sample(0).step, 7);
    EXPECT_EQ(state.Sample(0).checkpoint, 0);
    EXPECT_NEAR(state.Sample(1).checkpoint, 0.003, 1e-6);
    EXPECT_NEAR(state.Sample(1).compute, 0.001, 1e-6);
  });
}

// Computes for so long on a core that another thread wants as well.
void ComputeOnSharedCore(absl::Duration time) {
  timespec begin = {}, now = {};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &begin);
  do {
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  } while (absl::DurationFromTimespec(now) - absl::DurationFromTimespec(begin) < time);
}

TEST(CoreDelay, CountsTimeWithoutACoreButNotInWaits) {
  cpu_set_t before, one;
  ASSERT_EQ(sched_getaffinity(0, sizeof(before), &before), 0);
  int core = 0;
  while (!CPU_ISSET(core, &before)) ++core;
  CPU_ZERO(&one);
  CPU_SET(core, &one);
  ASSERT_EQ(sched_setaffinity(0, sizeof(one), &one), 0);
  CoreDelay delay;  // of this thread: the other one is not there yet
  std::atomic<bool> stops = false;
  std::thread other([&] {
    while (!stops) ComputeOnSharedCore(absl::Milliseconds(1));
  });
  ComputeOnSharedCore(absl::Milliseconds(100));
  const absl::Duration own = delay.Take(), on_core = delay.TakeOnCore();
  absl::SleepFor(absl::Milliseconds(50));  // so that it looks again
  static_cast<void>(delay.Take());
  absl::SleepFor(absl::Milliseconds(50));
  delay.BeginWait();
  ComputeOnSharedCore(absl::Milliseconds(100));
  delay.EndWait();
  const absl::Duration in_wait = delay.Take();
  stops = true;
  other.join();
  sched_setaffinity(0, sizeof(before), &before);
  EXPECT_GT(own, absl::Milliseconds(20));
  EXPECT_LT(in_wait, own / 2);
  EXPECT_GE(on_core, absl::Milliseconds(100));
  EXPECT_LT(on_core, absl::Milliseconds(110));
}

TEST(CoreDelay, LeavesOutThreadsThatHardlyRun) {
  EXPECT_EQ(LongestDelay({}), 0);
  EXPECT_EQ(LongestDelay({{.on_core = 1000, .delay = 2}, {.on_core = 99, .delay = 50}}), 2);
  EXPECT_EQ(LongestDelay({{.on_core = 1000, .delay = 2}, {.on_core = 100, .delay = 50}}), 50);
}

TEST(StepWatch, TimedAgreementsKnowHowLongTheyWaited) {
  comm::RunAsThreads(2, 0, [&](comm::SharedMemoryCommunicator& communicator) {
    TimedAgreements ranks(communicator.control().beside());
    if (ranks.rank() == 1) absl::SleepFor(absl::Milliseconds(20));
    ASSERT_TRUE(ranks.Barrier(kDeadline).ok());
    if (ranks.rank() == 0) {
      EXPECT_GT(ranks.waited(), absl::Milliseconds(5));
    }
    ASSERT_TRUE(ranks.AllGatherBytes("a", kDeadline).ok());
    EXPECT_EQ(ranks.size(), 2);
  });
}

TEST(StepWatch, AStragglerIsAnEventAndALine) {
  const Straggler straggler{
      .rank = 3, .step = 40, .seconds = 0.0015, .share = 0.125, .cause = StragglerCause::kInput, .reason = ""};
  const RankPlace place{.host = "b\"", .cores = "cores 4-5", .group = 0};
  const nlohmann::json event = nlohmann::json::parse(StragglerJson(straggler, place));
  EXPECT_EQ(event, nlohmann::json::parse(R"({"event": "straggler", "rank": 3, "host": "b\"", "cores": "cores 4-5",
                                             "step": 40, "ms": 1.5, "percent": 12.5, "cause": "input"})"));
  EXPECT_THAT(
      StragglerText(straggler, place),
      HasSubstr("rank 3 (host b\", cores 4-5) holds up the others since about step 40: 1.5 ms, 12 % of each step; "
                "its inputs are filled more slowly"));
}

TEST(StepWatch, SaysWhatBecomesOfAStragglerThatHasLasted) {
  Straggler straggler{
      .rank = 1, .step = 90, .seconds = 0.002, .share = 0.2, .has_lasted = true, .is_replaced = true, .reason = ""};
  const RankPlace place{.host = "b", .cores = "core 1", .group = 0};
  EXPECT_EQ(nlohmann::json::parse(StragglerJson(straggler, place))["replaced"], true);
  EXPECT_EQ(
      StragglerText(straggler, place),
      "rank 1 (host b, core 1) still holds up the others in step 90: 2 ms, 20 % of each step; its process is started "
      "again elsewhere");
  straggler.is_replaced = false;
  straggler.reason = "this host has no \"core\" to spare";
  const nlohmann::json event = nlohmann::json::parse(StragglerJson(straggler, place));
  EXPECT_EQ(event["replaced"], false);
  EXPECT_EQ(event["reason"], straggler.reason);
  EXPECT_THAT(StragglerText(straggler, place), HasSubstr("it is not replaced: " + straggler.reason));
}

TEST(StepWatch, NamesCoresInRanges) {
  EXPECT_EQ(CoreList({0, 1, 2, 3, 8}), "0-3,8");
  EXPECT_EQ(CoresText({5}), "core 5");
  EXPECT_EQ(CoresText({1, 3}), "cores 1,3");
}

}  // namespace
}  // namespace sgd::watch
