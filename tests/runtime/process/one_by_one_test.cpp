// Ranks that were started one by one, as by torchrun or Slurm: what they say when they do not fit together or do not
// come.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "job_process.h"
#include "runtime/comm/shared_memory/rendezvous_socket.h"

namespace sgd::process {
namespace {

using ::testing::AllOf;
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
  JobOptions options = Options();
  options.deadline = absl::Milliseconds(300);
  std::vector<JobProcess> jobs;
  jobs.emplace_back(Alone(0, 4), options, SumRanks);
  jobs.emplace_back(Alone(2, 4), options, SumRanks);
  ExpectCauseIn(ErrorsOf(jobs), AllOf(HasSubstr("rank 1, 3 of 4 did not join"), HasSubstr("within 300ms")));
}

TEST(OneByOne, NamesRankZeroWhenItDoesNotCome) {
  JobOptions options = Options();
  options.deadline = absl::Milliseconds(100);
  std::vector<JobProcess> jobs;
  jobs.emplace_back(Alone(1, 2), options, SumRanks);
  EXPECT_THAT(ErrorsOf(jobs)[0], StartsWith("sgdrun: rank 1: rank 0 did not appear at"));
}

TEST(OneByOne, RefusesRanksThatContradictEachOther) {
  std::vector<JobProcess> jobs;
  jobs.emplace_back(Alone(0, 3), Options(), SumRanks);
  jobs.emplace_back(Alone(1, 2), Options(), SumRanks);
  ExpectCauseIn(ErrorsOf(jobs), HasSubstr("says that the job has 2 ranks, rank 0 says 3"));
}

TEST(OneByOne, RefusesDifferentCommunicationThreads) {
  JobOptions options = Options();
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
  ExpectCauseIn(ErrorsOf(jobs), HasSubstr("two processes say that they are rank 1"));
}

TEST(OneByOne, RefusesDifferentWindows) {
  JobOptions other = Options();
  other.window_bytes = 4096;
  std::vector<JobProcess> jobs;
  jobs.emplace_back(Alone(0, 2), Options(), SumRanks);
  jobs.emplace_back(Alone(1, 2), other, SumRanks);
  ExpectCauseIn(ErrorsOf(jobs), HasSubstr("has another artifact than rank 0: windows of 4096 and 65536"));
}

// By name, whatever their windows are.
TEST(OneByOne, RefusesDifferentPlans) {
  JobOptions first = Options(), second = Options();
  first.plan = "data=2", second.plan = "model=2";
  second.window_bytes = 4096;
  std::vector<JobProcess> jobs;
  jobs.emplace_back(Alone(0, 2), first, SumRanks);
  jobs.emplace_back(Alone(1, 2), second, SumRanks);
  ExpectCauseIn(ErrorsOf(jobs), HasSubstr("runs the plan 'model=2', rank 0 runs 'data=2'; expected one plan"));
}

TEST(OneByOne, NoticesADeathDuringTheMeeting) {
  JobOptions options = Options();
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

// Rank 0 has accepted what connects from here on: it listens.
comm::UniqueFd ConnectStranger(const std::string& rendezvous) {
  sockaddr_un address;
  const socklen_t length = comm::MakeRendezvousAddress(rendezvous, &address);
  while (true) {
    comm::UniqueFd socket = comm::NewRendezvousSocket();
    if (connect(socket.get(), reinterpret_cast<sockaddr*>(&address), length) == 0) return socket;
    absl::SleepFor(absl::Milliseconds(1));
  }
}

TEST(OneByOne, TurnsStrangersAwayWithANote) {
  std::vector<JobProcess> jobs;
  jobs.emplace_back(Alone(0, 2), Options(), SumRanks);
  const std::string place = Alone(0, 2).rendezvous;
  ConnectStranger(place);  // and away again
  const comm::UniqueFd silent = ConnectStranger(place), garbage = ConnectStranger(place), half = ConnectStranger(place),
                       large = ConnectStranger(place);
  const comm::RendezvousHello hello;
  const std::string long_text(100'000, 'x');
  EXPECT_EQ(send(garbage.get(), "GET / HTTP/1.1\r\n", 16, 0), 16);
  EXPECT_EQ(send(half.get(), &hello, sizeof(hello) / 2, 0), static_cast<ssize_t>(sizeof(hello) / 2));
  EXPECT_EQ(send(large.get(), long_text.data(), long_text.size(), 0), static_cast<ssize_t>(long_text.size()));
  for (const comm::UniqueFd* stranger : {&garbage, &half, &large}) {
    pollfd end = {stranger->get(), POLLIN, 0};
    EXPECT_EQ(poll(&end, 1, 60'000), 1) << "its connection is not closed";
  }
  std::vector<comm::UniqueFd> many;
  for (int i = 0; i < 100; ++i) many.push_back(ConnectStranger(place));
  const absl::Time begin = absl::Now();
  jobs.emplace_back(Alone(1, 2), Options(), SumRanks);
  EXPECT_EQ(jobs[0].Wait(), 0);
  EXPECT_EQ(jobs[1].Wait(), 0);
  EXPECT_LT(absl::Now() - begin, kLoaded) << "nobody waits for strangers";
  const std::string notes = jobs[0].ReadErrors();
  EXPECT_THAT(notes, HasSubstr(absl::StrCat("sgdrun: note: rendezvous '", place, "': turned away process ", getpid())));
  EXPECT_THAT(notes, HasSubstr("that did not speak as a rank does"));
  EXPECT_THAT(notes, HasSubstr("that said nothing and went away"));
  EXPECT_LE(std::ranges::count(notes, '\n'), 8);
  EXPECT_EQ(jobs[1].ReadErrors(), "");
}

TEST(OneByOne, ARankOfAnotherVersionIsNamed) {
  std::vector<JobProcess> jobs;
  jobs.emplace_back(Alone(0, 2), Options(), SumRanks);
  const comm::UniqueFd other = ConnectStranger(Alone(0, 2).rendezvous);
  comm::RendezvousHello hello;
  hello.rank = 1;
  hello.size = 2;
  std::strcpy(hello.version, "0.0.9");
  EXPECT_TRUE(comm::Send(other.get(), hello));
  EXPECT_EQ(jobs[0].Wait(), 1);
  EXPECT_THAT(jobs[0].ReadErrors(), HasSubstr("runs sgdrun 0.0.9, rank 0 runs sgdrun 0.1.0 (build "));
}

TEST(OneByOne, TurnsSilentStrangersAwayAfterAWhile) {
  JobOptions options = Options();
  options.deadline = absl::Seconds(4);
  std::vector<JobProcess> jobs;
  jobs.emplace_back(Alone(0, 2), options, SumRanks);
  const comm::UniqueFd silent = ConnectStranger(Alone(0, 2).rendezvous);
  pollfd end = {silent.get(), POLLIN, 0};
  EXPECT_EQ(poll(&end, 1, 60'000), 1);
  EXPECT_EQ(jobs[0].Wait(), 1);
  EXPECT_THAT(jobs[0].ReadErrors(), HasSubstr("that said nothing for 2s"));
  EXPECT_THAT(jobs[0].ReadErrors(), HasSubstr("rank 1 of 2 did not join"));
}

// A process that has met the others has mapped what they share.
void WaitUntilMet(pid_t process) {
  std::string maps;
  while (maps.find("memfd:sgd") == std::string::npos) {
    std::stringstream text;
    text << std::ifstream(absl::StrCat("/proc/", process, "/maps")).rdbuf();
    maps = text.str();
    absl::SleepFor(absl::Milliseconds(1));
  }
}

// Of ranks that meet while they prepare: one that fails before it joins tells why, one that dies is named.
TEST(OneByOne, ARankThatFailsInItsPreparationIsHeardOfByAll) {
  for (const uint32_t failing : {0u, 2u}) {
    std::vector<JobProcess> jobs;
    for (uint32_t rank = 0; rank < 3; ++rank) {
      const auto prepare = [rank, failing]() -> absl::Status {
        return rank == failing ? absl::NotFoundError("in.safetensors: cannot open") : absl::OkStatus();
      };
      jobs.emplace_back(Alone(rank, 3), Options(), SumRanks, prepare);
    }
    const absl::Time begin = absl::Now();
    ExpectCauseIn(ErrorsOf(jobs), HasSubstr(absl::StrCat("rank ", failing, ": in.safetensors: cannot open")));
    EXPECT_LT(absl::Now() - begin, kLoaded);
  }
}

TEST(OneByOne, ARankThatDiesInItsPreparationIsNamedAtOnce) {
  PidBoard board;
  std::vector<JobProcess> jobs;
  for (uint32_t rank = 0; rank < 3; ++rank) {
    const auto prepare = [&board, rank]() -> absl::Status {
      board.Announce(rank);
      if (rank == 1) pause();
      return absl::OkStatus();
    };
    jobs.emplace_back(Alone(rank, 3), Options(), SumRanks, prepare);
  }
  const pid_t victim = board.WaitFor(1);
  WaitUntilMet(victim);
  kill(victim, SIGKILL);
  const absl::Time begin = absl::Now();
  std::vector<std::string> errors;
  for (uint32_t rank : {0u, 2u}) {
    EXPECT_EQ(jobs[rank].Wait(), 1);
    errors.push_back(jobs[rank].ReadErrors());
  }
  ExpectCauseIn(errors, AnyOf(HasSubstr(absl::StrCat("rank 1 (process ", victim, ") has ended during start-up")),
                              HasSubstr("rank 1: killed by signal 9"), HasSubstr("rank 1: died, process")));
  EXPECT_LT(absl::Now() - begin, kLoaded);
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
  const std::string stopped =
      absl::StrCat("; rank 1 (process ", board.WaitFor(1), ") is stopped by a signal (state T)\n");
  ExpectCauseIn(ErrorsOf(jobs), EndsWith(absl::StrCat("rank 0: barrier: rank 1 did not arrive within 300ms", stopped)));
}

}  // namespace
}  // namespace sgd::process
