// Ranks under our supervisor: stopped ones are named, signals are passed on, nothing is left behind.
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "job_process.h"

namespace sgd::process {
namespace {

TEST(Supervisor, NamesAStoppedRankAtTheDeadlineAndKillsIt) {
  PidBoard board;
  JobProcess job(LauncherOf(2), Options(), [&](RankContext& context) {
    board.Announce(context.rank);
    if (context.rank == 1) raise(SIGSTOP);
    return context.control->Barrier(absl::Milliseconds(300));
  });
  const comm::UniqueFd stopped = board.Open(1);
  EXPECT_EQ(job.Wait(), 1);
  EXPECT_EQ(job.ReadErrors(),
            absl::StrCat("sgdrun: rank 0: barrier: rank 1 did not arrive within 300ms; rank 1 (process ",
                         board.WaitFor(1), ") is stopped by a signal (state T)\n"));
  EXPECT_TRUE(EndsWithin(stopped, kLoaded));
}

// No rank is left that would miss another one.
TEST(Supervisor, NamesRanksThatAreAllStoppedAtTheDeadlineAndKillsThem) {
  PidBoard board;
  JobOptions options = Options();
  options.deadline = absl::Milliseconds(400);
  JobProcess job(LauncherOf(2), options, [&](RankContext& context) -> absl::Status {
    board.Announce(context.rank);
    ComputeForever();
  });
  const comm::UniqueFd rank0 = board.Open(0), rank1 = board.Open(1);
  // Ranks that go on in time are not missed.
  for (const int signal : {SIGSTOP, SIGCONT}) {
    for (uint32_t rank : {0u, 1u}) kill(board.WaitFor(rank), signal);
    absl::SleepFor(absl::Milliseconds(100));
  }
  EXPECT_FALSE(EndsWithin(rank0, absl::Milliseconds(600)));
  for (uint32_t rank : {0u, 1u}) kill(board.WaitFor(rank), SIGSTOP);
  EXPECT_EQ(job.Wait(), 1);
  EXPECT_EQ(job.ReadErrors(),
            "sgdrun: rank 0: is stopped by a signal, and so are all ranks that this launcher has started, for 400ms; "
            "continue them sooner (SIGCONT), or raise --deadline\n");
  EXPECT_TRUE(EndsWithin(rank0, kLoaded));
  EXPECT_TRUE(EndsWithin(rank1, kLoaded));
}

TEST(Supervisor, NamesARankThatDoesNotEnd) {
  JobOptions options = Options();
  options.deadline = absl::Milliseconds(400);
  JobProcess job(LauncherOf(2), options, [](RankContext& context) {
    if (context.rank == 1) raise(SIGSTOP);
    return absl::OkStatus();
  });
  EXPECT_EQ(job.Wait(), 1);
  EXPECT_EQ(job.ReadErrors(), "sgdrun: rank 1: did not end within 400ms after the first rank had ended\n");
}

TEST(Supervisor, PassesSignalsOnAndSaysSo) {
  PidBoard board;
  JobProcess job(LauncherOf(2), Options(), [&](RankContext& context) -> absl::Status {
    board.Announce(context.rank);
    ComputeForever();
  });
  const comm::UniqueFd rank0 = board.Open(0), rank1 = board.Open(1);
  kill(job.pid(), SIGTERM);
  EXPECT_EQ(job.Wait(), 1);
  EXPECT_EQ(job.ReadErrors(), "sgdrun: interrupted by signal 15 (Terminated)\n");
  EXPECT_TRUE(EndsWithin(rank0, kLoaded));
  EXPECT_TRUE(EndsWithin(rank1, kLoaded));
}

TEST(Supervisor, LeavesNoProcessBehindWhenItIsKilled) {
  PidBoard board;
  JobProcess job(LauncherOf(2), Options(), [&](RankContext& context) -> absl::Status {
    board.Announce(context.rank);
    ComputeForever();
  });
  const comm::UniqueFd rank0 = board.Open(0), rank1 = board.Open(1);
  kill(job.pid(), SIGKILL);
  EXPECT_EQ(job.Wait(), -SIGKILL);
  EXPECT_TRUE(EndsWithin(rank0, kLoaded));
  EXPECT_TRUE(EndsWithin(rank1, kLoaded));
}

TEST(Supervisor, BindsRanksToDisjointCores) {
  cpu_set_t allowed;
  sched_getaffinity(0, sizeof(allowed), &allowed);
  if (CPU_COUNT(&allowed) < 2) GTEST_SKIP() << "one core only";
  JobProcess job(LauncherOf(2), Options(), [](RankContext& context) -> absl::Status {
    cpu_set_t own;
    CPU_ZERO(&own);
    sched_getaffinity(0, sizeof(own), &own);
    auto all = context.control->AllGatherBytes(std::string(reinterpret_cast<const char*>(&own), sizeof(own)), kTimeout);
    if (!all.ok()) return all.status();
    cpu_set_t masks[2], both;
    for (int rank = 0; rank < 2; ++rank) {
      std::copy((*all)[rank].begin(), (*all)[rank].end(), reinterpret_cast<char*>(&masks[rank]));
    }
    CPU_AND(&both, &masks[0], &masks[1]);
    return CPU_COUNT(&both) == 0 ? absl::OkStatus() : absl::InternalError("cores are shared");
  });
  EXPECT_EQ(job.Wait(), 0);
  EXPECT_EQ(job.ReadErrors(), "");
}

}  // namespace
}  // namespace sgd::process
