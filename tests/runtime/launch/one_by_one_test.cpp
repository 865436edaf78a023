// Ranks that were started one by one, as by torchrun or Slurm: what they say when they do not fit together or do not
// come.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include "absl/time/clock.h"
#include "job_process.h"

namespace sgd::launch {
namespace {

using ::testing::AnyOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

// Starts ranks one by one with differing options; returns what each one printed.
std::vector<std::string> ErrorsOf(std::vector<JobProcess>& jobs) {
  std::vector<std::string> errors;
  for (JobProcess& job : jobs) {
    EXPECT_EQ(job.Wait(), 1);
    errors.push_back(job.ReadErrors());
  }
  return errors;
}

TEST(OneByOne, NamesRanksThatDoNotCome) {
  LaunchOptions options = Options();
  options.deadline = absl::Milliseconds(300);
  std::vector<JobProcess> jobs;
  jobs.emplace_back(Alone(0, 4), options, SumRanks);
  jobs.emplace_back(Alone(2, 4), options, SumRanks);
  for (const std::string& error : ErrorsOf(jobs)) {
    EXPECT_THAT(error, HasSubstr("rank 1, 3 of 4 did not join"));
    EXPECT_THAT(error, HasSubstr("within 300ms"));
  }
}

TEST(OneByOne, NamesRankZeroWhenItDoesNotCome) {
  LaunchOptions options = Options();
  options.deadline = absl::Milliseconds(100);
  std::vector<JobProcess> jobs;
  jobs.emplace_back(Alone(1, 2), options, SumRanks);
  EXPECT_THAT(ErrorsOf(jobs)[0], StartsWith("sgdrun: rank 1: rank 0 did not appear at"));
}

TEST(OneByOne, RefusesRanksThatContradictEachOther) {
  std::vector<JobProcess> jobs;
  jobs.emplace_back(Alone(0, 3), Options(), SumRanks);
  jobs.emplace_back(Alone(1, 2), Options(), SumRanks);
  for (const std::string& error : ErrorsOf(jobs)) {
    EXPECT_THAT(error, HasSubstr("says that the job has 2 ranks, rank 0 says 3"));
  }
}

TEST(OneByOne, RefusesDifferentCommunicationThreads) {
  LaunchOptions options = Options();
  std::vector<JobProcess> jobs;
  for (uint32_t rank = 0; rank < 2; ++rank) {
    options.comm_thread = rank == 0 ? CommThread::kOn : CommThread::kOff;
    jobs.emplace_back(Alone(rank, 2), options, SumRanks);
  }
  const std::vector<std::string> errors = ErrorsOf(jobs);
  EXPECT_THAT(errors[0] + errors[1], HasSubstr("was started with another choice of a communication thread"));
}

TEST(OneByOne, RefusesTwoProcessesOfOneRank) {
  std::vector<JobProcess> jobs;
  jobs.emplace_back(Alone(0, 3), Options(), SumRanks);
  jobs.emplace_back(Alone(1, 3), Options(), SumRanks);
  jobs.emplace_back(Alone(1, 3), Options(), SumRanks);
  for (const std::string& error : ErrorsOf(jobs)) {
    EXPECT_THAT(error, HasSubstr("two processes say that they are rank 1"));
  }
}

TEST(OneByOne, RefusesDifferentWindows) {
  LaunchOptions other = Options();
  other.window_bytes = 4096;
  std::vector<JobProcess> jobs;
  jobs.emplace_back(Alone(0, 2), Options(), SumRanks);
  jobs.emplace_back(Alone(1, 2), other, SumRanks);
  for (const std::string& error : ErrorsOf(jobs)) {
    EXPECT_THAT(error, HasSubstr("has another artifact than rank 0: windows of 4096 and 65536"));
  }
}

TEST(OneByOne, NoticesADeathDuringTheMeeting) {
  LaunchOptions options = Options();
  options.deadline = absl::Seconds(3);
  std::vector<JobProcess> jobs;
  jobs.emplace_back(Alone(0, 3), options, SumRanks);
  JobProcess victim(Alone(1, 3), options, SumRanks);
  absl::SleepFor(absl::Milliseconds(100));
  kill(victim.pid(), SIGKILL);
  // On a loaded machine the victim may not have joined before it died.
  EXPECT_THAT(ErrorsOf(jobs)[0],
              AnyOf(HasSubstr("has ended during start-up"), HasSubstr("rank 1, 2 of 3 did not join")));
}

TEST(OneByOne, NamesAStoppedRankAtTheDeadlineAndEndsIt) {
  PidBoard board;
  const RankMain rank_main = [&](RankContext& context) -> absl::Status {
    board.Announce(context.rank);
    if (context.rank == 1) ComputeForever();
    return context.control->Barrier(absl::Milliseconds(300));
  };
  std::vector<JobProcess> jobs;
  for (uint32_t rank = 0; rank < 2; ++rank) jobs.emplace_back(Alone(rank, 2), Options(), rank_main);
  kill(board.WaitFor(1), SIGSTOP);
  for (const std::string& error : ErrorsOf(jobs)) {
    EXPECT_THAT(error, EndsWith("rank 0: barrier: rank 1 did not arrive within 300ms\n"));
  }
}

}  // namespace
}  // namespace sgd::launch
