// SIGINT and SIGTERM, to whichever process: all ranks stop after the same step and end with 75; a second signal ends
// them at once.
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include "absl/time/clock.h"
#include "job_process.h"

namespace sgd::process {
namespace {

constexpr uint32_t kRanks = 3;

// Steps without any wait for the others, the last rank slower than the first, which the last one has to catch up with;
// or in lockstep.
RankMain Loop(StepBoard& steps, PidBoard& board, bool in_lockstep) {
  return [&steps, &board, in_lockstep](RankContext& context) -> absl::Status {
    board.Announce(context.rank);
    for (uint64_t step = 0;; ++step) {
      const absl::StatusOr<bool> goes_on = context.control->BeginStep(step, kTimeout);
      if (!goes_on.ok()) return goes_on.status();
      if (!*goes_on) return Interrupted();
      absl::SleepFor(absl::Microseconds(100 + 30 * context.rank));
      if (in_lockstep) {
        if (absl::Status status = context.control->Barrier(kTimeout); !status.ok()) return status;
      }
      steps.done[context.rank] = step + 1;
    }
  };
}

enum class Started { kSupervised, kOneByOne, kSingle };

struct Case {
  Started started;
  int signal;
  bool to_rank;  // to rank 1, or 0 if there is no other; else to the launcher, or all
};

class Stop : public testing::TestWithParam<Case> {
 protected:
  Stop() {
    options_.stops_between_steps = true;
    options_.clean_up = [] { dprintf(STDERR_FILENO, "cleaned up\n"); };
  }
  uint32_t ranks() const { return GetParam().started == Started::kSingle ? 1 : kRanks; }

  void Start(bool in_lockstep) {
    const RankMain loop = Loop(steps_, board_, in_lockstep);
    if (GetParam().started == Started::kOneByOne) {
      for (uint32_t rank = 0; rank < kRanks; ++rank) jobs_.emplace_back(Alone(rank, kRanks), options_, loop);
    } else {
      jobs_.emplace_back(LauncherOf(ranks()), options_, loop);
    }
    steps_.WaitForSome(ranks());
  }
  void Send() {
    if (GetParam().to_rank) {
      kill(board_.WaitFor(ranks() - 1), GetParam().signal);
    } else {
      for (const JobProcess& job : jobs_) kill(job.pid(), GetParam().signal);
    }
  }

  JobOptions options_ = Options();
  StepBoard steps_;
  PidBoard board_;
  std::vector<JobProcess> jobs_;
};

TEST_P(Stop, AllStopAfterTheSameStep) {
  for (const bool in_lockstep : {false, true}) {
    for (uint32_t rank = 0; rank < kRanks; ++rank) steps_.done[rank] = 0;
    jobs_.clear();
    Start(in_lockstep);
    Send();
    for (JobProcess& job : jobs_) {
      EXPECT_EQ(job.Wait(), kExitInterrupted);
      EXPECT_EQ(job.ReadErrors(), "");
    }
    for (uint32_t rank = 1; rank < ranks(); ++rank) EXPECT_EQ(steps_.done[rank], steps_.done[0]);
  }
}

INSTANTIATE_TEST_SUITE_P(Launch, Stop,
                         testing::Values(Case{Started::kSupervised, SIGTERM, false},
                                         Case{Started::kSupervised, SIGINT, true},
                                         Case{Started::kOneByOne, SIGINT, false},
                                         Case{Started::kOneByOne, SIGTERM, true},
                                         Case{Started::kSingle, SIGTERM, true}));

// A step that never ends is what second signals are for.
TEST(StopAtOnce, ASecondSignalEndsTheRun) {
  for (const bool is_single : {false, true}) {
    StepBoard steps;
    JobOptions options = Options();
    options.stops_between_steps = true;
    options.clean_up = [] { dprintf(STDERR_FILENO, "cleaned up\n"); };
    JobProcess job(LauncherOf(is_single ? 1 : 2), options, [&](RankContext& context) -> absl::Status {
      if (absl::Status status = context.control->BeginStep(0, kTimeout).status(); !status.ok()) return status;
      steps.done[context.rank] = 5;
      ComputeForever();
    });
    steps.WaitForSome(is_single ? 1 : 2);
    kill(job.pid(), SIGTERM);
    // One that is pending when another comes is the same one.
    absl::SleepFor(absl::Milliseconds(300));
    kill(job.pid(), SIGTERM);
    EXPECT_EQ(job.Wait(), 1);
    EXPECT_EQ(job.ReadErrors(), "cleaned up\nsgdrun: interrupted by signal 15 (Terminated)\n");
  }
}

// Ranks that keep their state and then take their time to end.
TEST(StopAtOnce, OnceTheStateIsKeptSignalsChangeNothing) {
  for (const bool is_over : {false, true}) {  // stopped by a first signal, or after the last step
    for (const Started started : {Started::kSupervised, Started::kOneByOne, Started::kSingle}) {
      StepBoard steps;
      PidBoard board;
      JobOptions options = Options();
      options.stops_between_steps = true;
      const uint32_t ranks = started == Started::kSingle ? 1 : 2;
      const RankMain rank_main = [&](RankContext& context) -> absl::Status {
        board.Announce(context.rank);
        uint64_t step = 0;
        for (bool goes_on = !is_over; goes_on;) {
          absl::StatusOr<bool> next = context.control->BeginStep(step++, kTimeout);
          if (!next.ok()) return next.status();
          goes_on = *next;
          steps.done[context.rank] = 5;
          absl::SleepFor(absl::Milliseconds(1));
        }
        if (absl::Status status = context.control->Barrier(kTimeout); !status.ok()) return status;
        context.control->MarkStateKept();
        steps.done[context.rank] = 6;
        while (steps.done[context.rank] != 7) absl::SleepFor(absl::Milliseconds(1));
        return is_over ? absl::OkStatus() : Interrupted();
      };
      std::vector<JobProcess> jobs;
      for (uint32_t rank = 0; rank < (started == Started::kOneByOne ? ranks : 1); ++rank)
        jobs.emplace_back(started == Started::kOneByOne ? Alone(rank, ranks) : LauncherOf(ranks), options, rank_main);
      const auto send_to_all = [&] {
        for (const JobProcess& job : jobs) kill(job.pid(), SIGTERM);
        for (uint32_t rank = 0; rank < ranks; ++rank) kill(board.WaitFor(rank), SIGTERM);
      };
      if (!is_over) {
        steps.WaitForSome(ranks);
        kill(jobs[0].pid(), SIGTERM);
      }
      for (uint32_t rank = 0; rank < ranks; ++rank) {
        while (steps.done[rank] != 6) absl::SleepFor(absl::Milliseconds(1));
      }
      send_to_all();
      absl::SleepFor(absl::Milliseconds(100));  // lets a wrong reaction show
      send_to_all();
      for (uint32_t rank = 0; rank < ranks; ++rank) steps.done[rank] = 7;
      for (JobProcess& job : jobs) {
        EXPECT_EQ(job.Wait(), is_over ? 0 : kExitInterrupted);
        EXPECT_EQ(job.ReadErrors(), "");
      }
    }
  }
}

// Without a loop to stop, the first one ends the run.
TEST(StopAtOnce, WithoutALoopTheFirstSignalEndsTheRun) {
  for (const bool one_by_one : {false, true}) {
    PidBoard board;
    const RankMain rank_main = [&](RankContext& context) -> absl::Status {
      board.Announce(context.rank);
      ComputeForever();
    };
    std::vector<JobProcess> jobs;
    if (one_by_one) {
      for (uint32_t rank = 0; rank < 2; ++rank) jobs.emplace_back(Alone(rank, 2), Options(), rank_main);
    } else {
      jobs.emplace_back(LauncherOf(2), Options(), rank_main);
    }
    board.WaitFor(0);
    kill(board.WaitFor(1), SIGTERM);
    std::vector<std::string> errors;
    for (JobProcess& job : jobs) {
      EXPECT_EQ(job.Wait(), 1);
      errors.push_back(job.ReadErrors());
    }
    ExpectCauseIn(errors, testing::Eq("sgdrun: rank 1: interrupted by signal 15 (Terminated)\n"));
  }
}

}  // namespace
}  // namespace sgd::process
