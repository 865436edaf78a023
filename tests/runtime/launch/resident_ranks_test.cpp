// Resident ranks without a program: what their functions return, and who hears of it.
#include "runtime/launch/resident_ranks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>

#include <atomic>
#include <set>
#include <string>
#include <thread>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "runtime/launch/core_assignment.h"
#include "runtime/launch/interruption.h"

namespace sgd::launch {
namespace {

using ::testing::Each;
using ::testing::HasSubstr;

constexpr absl::Duration kTimeout = absl::Seconds(60);
constexpr uint32_t kRanks = 3;

std::string Message(const absl::Status& status) { return std::string(status.message()); }

absl::Status Meet(RankContext& context) { return context.control->Barrier(kTimeout); }

class ResidentRanksTest : public ::testing::Test {
 protected:
  void Start(uint32_t ranks, const ResidentOptions& options = {}) {
    auto started = ResidentRanks::Start(ranks, options);
    ASSERT_TRUE(started.ok()) << started.status();
    ranks_ = *std::move(started);
  }
  std::unique_ptr<ResidentJob> Open() {
    auto job = ranks_->Open(4096);
    EXPECT_TRUE(job.ok()) << job.status();
    return job.ok() ? *std::move(job) : nullptr;
  }

  std::unique_ptr<ResidentRanks> ranks_;
};

TEST_F(ResidentRanksTest, RunOnTheSameThreadsInAllJobs) {
  Start(kRanks);
  std::vector<std::set<std::thread::id>> threads(kRanks);
  for (int jobs = 0; jobs < 2; ++jobs) {
    const auto job = Open();
    for (int runs = 0; runs < 3; ++runs) {
      const absl::Status status = job->Run([&](RankContext& context) {
        EXPECT_EQ(context.size, kRanks);
        EXPECT_EQ(context.control->rank(), context.rank);
        threads[context.rank].insert(std::this_thread::get_id());
        return Meet(context);
      });
      EXPECT_EQ(status, absl::OkStatus());
      EXPECT_THAT(job->outcomes(), Each(absl::OkStatus()));
    }
  }
  std::set<std::thread::id> all = {std::this_thread::get_id()};
  for (const auto& of_rank : threads) {
    EXPECT_EQ(of_rank.size(), 1u);
    all.insert(of_rank.begin(), of_rank.end());
  }
  EXPECT_EQ(all.size(), kRanks + 1);
}

TEST_F(ResidentRanksTest, DivideTheCoresOfTheCaller) {
  const size_t cores = AllowedCores().size();
  const auto ranks = static_cast<uint32_t>(std::min<size_t>(cores, 2));
  Start(ranks);
  std::vector<cpu_set_t> masks(ranks);
  ASSERT_TRUE(Open()
                  ->Run([&](RankContext& context) {
                    sched_getaffinity(0, sizeof(cpu_set_t), &masks[context.rank]);
                    return absl::OkStatus();
                  })
                  .ok());
  int sum = 0;
  for (const cpu_set_t& mask : masks) sum += CPU_COUNT(&mask);
  EXPECT_EQ(sum, static_cast<int>(cores));
  EXPECT_EQ(AllowedCores().size(), cores);
}

TEST_F(ResidentRanksTest, AFailingRankEndsItsJobAndNothingElse) {
  Start(kRanks);
  const auto other = Open();
  {
    const auto job = Open();
    const absl::Status status = job->Run([](RankContext& context) {
      return context.rank == 1 ? absl::InternalError("the valve is stuck") : Meet(context);
    });
    EXPECT_EQ(status, absl::InternalError("rank 1: the valve is stuck"));
    EXPECT_EQ(job->status(), status);
    for (const uint32_t rank : {0u, 2u})
      EXPECT_THAT(Message(job->outcomes()[rank]), HasSubstr("was given up: rank 1: the valve is stuck"));
    EXPECT_EQ(job->Run(Meet),
              absl::FailedPreconditionError("the job has ended: rank 1: the valve is stuck; open a new one"));
  }
  EXPECT_EQ(other->Run(Meet), absl::OkStatus());
  EXPECT_EQ(Open()->Run(Meet), absl::OkStatus());
}

TEST_F(ResidentRanksTest, ARankThatReturnsIsNotWaitedFor) {
  Start(kRanks);
  const auto job = Open();
  ASSERT_TRUE(job->Run(Meet).ok());
  const absl::Status status =
      job->Run([](RankContext& context) { return context.rank == 2 ? absl::OkStatus() : Meet(context); });
  EXPECT_THAT(Message(status), HasSubstr("rank 2 has already ended"));
}

TEST_F(ResidentRanksTest, ALostRankIsReplaced) {
  Start(kRanks, {.deadline = absl::Milliseconds(200), .grace = absl::Milliseconds(50)});
  const auto goes_on = std::make_shared<std::atomic<bool>>(true);
  const auto returned = std::make_shared<std::atomic<bool>>(false);
  {
    const auto job = Open();
    const absl::Status status = job->Run([=](RankContext& context) {
      while (context.rank == 2 && *goes_on) absl::SleepFor(absl::Milliseconds(1));
      if (context.rank != 2) return absl::OkStatus();
      const absl::Status late = Meet(context);  // its communicator is still there
      EXPECT_THAT(Message(late), HasSubstr("was given up"));
      *returned = true;
      return late;
    });
    EXPECT_EQ(Message(status), "rank 2: did not return within 200ms of the first rank that did");
    EXPECT_EQ(Message(job->outcomes()[2]), "rank 2: did not return within 50ms of the job's end");
    EXPECT_EQ(ranks_->lost(), 1u);
  }
  EXPECT_EQ(Open()->Run(Meet), absl::OkStatus());
  *goes_on = false;
  while (ranks_->lost() != 0) absl::SleepFor(absl::Milliseconds(1));
  EXPECT_TRUE(*returned);
}

TEST_F(ResidentRanksTest, ARankThatNobodyHearsOfIsNamedByThoseThatWait) {
  Start(kRanks, {.grace = absl::Milliseconds(20)});
  const auto goes_on = std::make_shared<std::atomic<bool>>(true);
  const auto job = Open();
  const absl::Status status = job->Run([=](RankContext& context) {
    while (context.rank == 0 && *goes_on) absl::SleepFor(absl::Milliseconds(1));
    return context.control->Barrier(absl::Milliseconds(100));
  });
  EXPECT_THAT(Message(status), HasSubstr("rank 0 did not arrive within 100ms"));
  for (const uint32_t rank : {1u, 2u})
    EXPECT_THAT(Message(job->outcomes()[rank]), HasSubstr("rank 0 did not arrive within 100ms"));
  *goes_on = false;
}

TEST_F(ResidentRanksTest, AnyThreadMayEndAJob) {
  Start(kRanks);
  const auto job = Open();
  std::atomic<uint32_t> waiting = 0;
  std::thread stopper([&] {
    while (waiting < kRanks - 1) absl::SleepFor(absl::Milliseconds(1));
    job->Abort(absl::CancelledError("the server shuts down"));
  });
  const absl::Status status = job->Run([&](RankContext& context) {
    if (context.rank == 0) {
      while (job->status().ok()) absl::SleepFor(absl::Milliseconds(1));
      return absl::OkStatus();
    }
    ++waiting;
    return Meet(context);
  });
  stopper.join();
  EXPECT_EQ(status, absl::CancelledError("the server shuts down"));
  EXPECT_EQ(Open()->Run(Meet), absl::OkStatus());
}

TEST_F(ResidentRanksTest, AJobThatWaitsForItsTurnCanBeEnded) {
  Start(kRanks);
  const auto job = Open(), other = Open();
  std::atomic<bool> goes_on = true, runs = false;
  std::thread runner([&] {
    EXPECT_EQ(other->Run([&](RankContext&) {
      for (runs = true; goes_on;) absl::SleepFor(absl::Milliseconds(1));
      return absl::OkStatus();
    }),
              absl::OkStatus());
  });
  while (!runs) absl::SleepFor(absl::Milliseconds(1));
  std::thread stopper([&] { job->Abort(absl::CancelledError("the user has left")); });
  EXPECT_EQ(Message(job->Run(Meet)).substr(0, 17), "the user has left");
  goes_on = false;
  stopper.join();
  runner.join();
}

TEST_F(ResidentRanksTest, ASingleRankMayRunOnTheCaller) {
  for (const bool on_caller : {true, false}) {
    Start(1, {.single_on_caller = on_caller});
    const auto job = Open();
    EXPECT_EQ(ranks_->is_on_caller(), on_caller);
    std::thread::id here;
    EXPECT_EQ(job->Run([&](RankContext&) {
      here = std::this_thread::get_id();
      return absl::OkStatus();
    }),
              absl::OkStatus());
    EXPECT_EQ(here == std::this_thread::get_id(), on_caller);
    EXPECT_EQ(job->Run([](RankContext&) { return absl::InternalError("the valve is stuck"); }),
              absl::InternalError("rank 0: the valve is stuck"));
    EXPECT_THAT(Message(job->Run(Meet)), HasSubstr("the job has ended: rank 0: the valve is stuck"));
    EXPECT_EQ(Open()->Run(Meet), absl::OkStatus());
  }
}

TEST_F(ResidentRanksTest, StopBetweenTwoStepsOnRequest) {
  Start(kRanks);
  const auto job = Open();
  std::vector<uint64_t> steps(kRanks);
  const absl::Status status = job->Run([&](RankContext& context) -> absl::Status {
    for (uint64_t& step = steps[context.rank];; ++step) {
      const absl::StatusOr<bool> goes_on = context.control->BeginStep(step, kTimeout);
      if (!goes_on.ok()) return goes_on.status();
      if (!*goes_on) return Interrupted();
      if (context.rank == 1 && step == 2) job->RequestStop(15);
      if (absl::Status met = Meet(context); !met.ok()) return met;
    }
  });
  EXPECT_TRUE(IsInterrupted(status)) << status;
  EXPECT_EQ(steps[1], 3u);
  EXPECT_THAT(steps, Each(steps[0]));
}

TEST_F(ResidentRanksTest, JobsOfSeveralThreadsTakeTurns) {
  Start(2);
  std::atomic<int> running = 0;
  const auto run_often = [&] {
    const auto job = Open();
    for (int i = 0; i < 50; ++i) {
      const absl::Status status = job->Run([&](RankContext& context) {
        EXPECT_LE(++running, 2);
        const absl::Status met = Meet(context);
        --running;
        return met;
      });
      ASSERT_EQ(status, absl::OkStatus());
    }
  };
  std::thread first(run_often), second(run_often);
  first.join();
  second.join();
}

TEST_F(ResidentRanksTest, WrongSizesAreRefused) {
  EXPECT_EQ(Message(ResidentRanks::Start(0, {}).status()), "0 resident ranks; supported are 1 to 1024");
  Start(2);
  EXPECT_THAT(Message(ranks_->Open(uint64_t{1} << 60).status()), HasSubstr("expected less"));
  EXPECT_EQ(Open()->Run(Meet), absl::OkStatus());
}

}  // namespace
}  // namespace sgd::launch
