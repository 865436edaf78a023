// Whole jobs of small rank functions, however their ranks were started: how they end well, and how they end when a rank
// fails or dies.
#include "runtime/process/launch.h"

#include <dirent.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <iostream>
#include <set>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/clock.h"
#include "job_process.h"
#include "runtime/launch/core_assignment.h"

namespace sgd::process {
namespace {

using ::testing::AnyOf;
using ::testing::HasSubstr;

// How ranks come to be: under our supervisor, or one by one.
class Jobs : public testing::TestWithParam<bool> {
 protected:
  std::vector<JobProcess> Start(uint32_t size, const RankMain& rank_main, JobOptions options = Options()) {
    std::vector<JobProcess> jobs;
    if (GetParam()) {
      jobs.emplace_back(LauncherOf(size), options, rank_main);
    } else {
      for (uint32_t rank = 0; rank < size; ++rank) {
        jobs.emplace_back(Alone(rank, size), options, rank_main);
      }
    }
    return jobs;
  }
};

TEST_P(Jobs, EndWell) {
  for (JobProcess& job : Start(3, SumRanks)) {
    EXPECT_EQ(job.Wait(), 0);
    EXPECT_EQ(job.ReadErrors(), "");
  }
}

// Collectives are started on whatever thread the options say, and nothing changes.
absl::Status SumRanksInTwoParts(RankContext& context) {
  comm::CollectiveSpec spec;
  spec.axes = {{0, 1, context.size}};
  spec.location = "test";
  spec.operands.resize(1);
  spec.operands[0].count = 8000;
  auto handle = context.communicator->Prepare(comm::Mesh{{context.size}}, spec);
  if (!handle.ok()) return handle.status();
  float* values = reinterpret_cast<float*>(context.communicator->window());
  std::fill_n(values, 8000, static_cast<float>(context.rank));
  absl::Status status = context.communicator->Start(*handle, kTimeout);
  if (status.ok()) status = context.communicator->Wait(*handle, kTimeout);
  if (!status.ok()) return status;
  const float expected = static_cast<float>(context.size * (context.size - 1) / 2);
  return std::count(values, values + 8000, expected) == 8000 ? absl::OkStatus() : absl::InternalError("wrong sum");
}

TEST_P(Jobs, HaveACommunicationThreadOrNone) {
  for (CommThread comm_thread : {CommThread::kAuto, CommThread::kOn, CommThread::kOff}) {
    JobOptions options = Options();
    options.comm_thread = comm_thread;
    for (JobProcess& job : Start(3, SumRanksInTwoParts, options)) {
      EXPECT_EQ(job.Wait(), 0);
      EXPECT_EQ(job.ReadErrors(), "");
    }
  }
}

TEST_P(Jobs, AnEarlyButNormalEndIsNoDeath) {
  const RankMain rank_main = [](RankContext& context) {
    if (context.rank == 0) absl::SleepFor(absl::Milliseconds(250));
    return absl::OkStatus();
  };
  for (JobProcess& job : Start(3, rank_main)) EXPECT_EQ(job.Wait(), 0);
}

TEST_P(Jobs, ReportTheFirstError) {
  const RankMain rank_main = [](RankContext& context) {
    if (context.rank == 1) return absl::InvalidArgumentError("step 3: mlp.py:31:8: bad input");
    return context.control->Barrier(kTimeout);
  };
  std::vector<std::string> errors;
  for (JobProcess& job : Start(3, rank_main)) {
    EXPECT_EQ(job.Wait(), 1);
    errors.push_back(job.ReadErrors());
  }
  ExpectCauseIn(errors, HasSubstr("rank 1: step 3: mlp.py:31:8: bad input\n"));
}

void ReportTime(const char* what, absl::Time begin) {
  const absl::Duration time = absl::Now() - begin;
  std::cout << "[ measured ] " << what << ": " << absl::FormatDuration(time) << "\n";
  EXPECT_LT(time, kLoaded);
}

// Kills rank 1 once all ranks run `meanwhile`, and checks that the others end, naming it.
void KillOneRank(std::vector<JobProcess> jobs, PidBoard& board, bool supervised, const char* what) {
  std::vector<comm::UniqueFd> processes;
  for (uint32_t rank = 0; rank < 3; ++rank) processes.push_back(board.Open(rank));
  absl::SleepFor(absl::Milliseconds(20));
  const absl::Time begin = absl::Now();
  kill(board.WaitFor(1), SIGKILL);
  if (!supervised) EXPECT_EQ(jobs[1].Wait(), -SIGKILL);
  EXPECT_TRUE(EndsWithin(processes[0], kLoaded));
  EXPECT_TRUE(EndsWithin(processes[2], kLoaded));
  ReportTime(what, begin);
  std::vector<std::string> errors;
  for (size_t i = 0; i < jobs.size(); ++i) {
    if (i == 1) continue;
    EXPECT_EQ(jobs[i].Wait(), 1);
    errors.push_back(jobs[i].ReadErrors());
  }
  ExpectCauseIn(errors, AnyOf(HasSubstr("rank 1: killed by signal 9"), HasSubstr("rank 1: died, process")));
}

TEST_P(Jobs, ADeathEndsRanksThatWait) {
  PidBoard board;
  const RankMain rank_main = [&](RankContext& context) {
    board.Announce(context.rank);
    if (context.rank == 1) ComputeForever();
    return context.control->Barrier(kTimeout);
  };
  KillOneRank(Start(3, rank_main), board, GetParam(), "death while the others wait");
}

TEST_P(Jobs, ADeathEndsRanksThatCompute) {
  PidBoard board;
  const RankMain rank_main = [&](RankContext& context) -> absl::Status {
    board.Announce(context.rank);
    ComputeForever();
  };
  KillOneRank(Start(3, rank_main), board, GetParam(), "death while the others compute");
}

TEST_P(Jobs, AnUnannouncedExitIsADeath) {
  const RankMain rank_main = [](RankContext& context) -> absl::Status {
    if (context.rank == 1) _exit(0);
    return context.control->Barrier(kTimeout);
  };
  std::vector<JobProcess> jobs = Start(2, rank_main);
  EXPECT_EQ(jobs[0].Wait(), 1);
  EXPECT_THAT(jobs[0].ReadErrors(),
              AnyOf(HasSubstr("rank 1: left with exit code 0"), HasSubstr("rank 1: died, process")));
}

// However ranks were started: cores of a rank are its own, and it stays on them.
TEST_P(Jobs, GiveEachRankCoresOfItsOwnWhereThereAreEnough) {
  const size_t cores = AllowedCores().size();
  const auto rank_main = [cores](RankContext& context) -> absl::Status {
    const bool is_enough = cores >= 2;
    auto all = context.control->AllGatherBytes(absl::StrJoin(context.cores, ","), kTimeout);
    if (!all.ok()) return all.status();
    const bool fits = is_enough ? !context.shares_cores && context.cores.size() == 1 && (*all)[0] != (*all)[1]
                                : context.shares_cores && context.cores.empty();
    cpu_set_t mask;
    sched_getaffinity(0, sizeof(mask), &mask);
    const bool stays = !is_enough || CPU_ISSET(context.cores[0], &mask);
    return fits && stays ? absl::OkStatus() : absl::InternalError(absl::StrJoin(*all, " and "));
  };
  JobOptions options = Options();
  options.threads = 1;
  // Both on two cores, or one.
  cpu_set_t before;
  sched_getaffinity(0, sizeof(before), &before);
  std::vector<int> some;
  for (const Core& core : AllowedCores()) {
    if (some.size() < 2) some.push_back(core.id);
  }
  BindToCores(some);
  for (JobProcess& job : Start(2, rank_main, options)) {
    EXPECT_EQ(job.Wait(), 0) << job.ReadErrors();
  }
  sched_setaffinity(0, sizeof(before), &before);
}

TEST_P(Jobs, ThreadsThatNeedMoreCoresThanThereAreKnowIt) {
  JobOptions options = Options();
  options.threads = static_cast<uint32_t>(AllowedCores().size()) + 1;
  const auto rank_main = [](RankContext& context) {
    return context.shares_cores && context.cores.empty() ? absl::OkStatus() : absl::InternalError("cores for all");
  };
  for (JobProcess& job : Start(2, rank_main, options)) {
    EXPECT_EQ(job.Wait(), 0) << job.ReadErrors();
  }
}

INSTANTIATE_TEST_SUITE_P(Launch, Jobs, testing::Bool(), [](const testing::TestParamInfo<bool>& info) {
  return info.param ? "Supervised" : "OneByOne";
});

TEST(Launch, RunsOneRankInThisProcess) {
  const pid_t here = getpid();
  bool ran = false;
  ProcessPolicy policy({});
  const absl::Status status = Launch(LauncherOf(1), Options(), policy, [&](RankContext& context) {
    ran = getpid() == here && context.size == 1 && context.threads >= 1;
    return SumRanks(context);
  });
  EXPECT_TRUE(status.ok()) << status;
  EXPECT_TRUE(ran);
}

std::set<std::string> SharedMemoryNames() {
  std::set<std::string> names;
  if (DIR* directory = opendir("/dev/shm")) {
    while (const dirent* entry = readdir(directory)) {
      if (absl::StrContains(entry->d_name, "sgd")) names.insert(entry->d_name);
    }
    closedir(directory);
  }
  return names;
}

TEST(Launch, LeavesNothingInSharedMemory) {
  const std::set<std::string> before = SharedMemoryNames();
  PidBoard board;
  JobProcess job(LauncherOf(2), Options(), [&](RankContext& context) -> absl::Status {
    board.Announce(context.rank);
    ComputeForever();
  });
  board.WaitFor(0);
  EXPECT_EQ(SharedMemoryNames(), before);
}

}  // namespace
}  // namespace sgd::process
