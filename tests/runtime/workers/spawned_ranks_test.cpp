// Ranks as worker processes: they keep state between runs, and one that fails, dies or hangs ends jobs and is replaced.
#include "runtime/workers/spawned_ranks.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <thread>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "runtime/comm/control/build_version.h"

namespace sgd::workers {
namespace {

using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;

constexpr uint32_t kRanks = 3;

std::string Message(const absl::Status& status) { return std::string(status.message()); }

// Whether a process exists and has not ended; a zombie has.
bool IsRunning(pid_t pid) {
  std::ifstream file(absl::StrCat("/proc/", pid, "/stat"));
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const size_t name_end = text.rfind(')');
  return name_end != std::string::npos && text[name_end + 2] != 'Z';
}

class SpawnedRanksTest : public ::testing::Test {
 protected:
  void Start(SpawnOptions options = {}) {
    options.command = {SGD_TEST_WORKER};
    auto started = SpawnedRanks::Start(kRanks, options);
    ASSERT_TRUE(started.ok()) << started.status();
    ranks_ = *std::move(started);
  }
  std::unique_ptr<SpawnedJob> Open() {
    auto job = ranks_->Open(4096);
    EXPECT_TRUE(job.ok()) << job.status();
    return job.ok() ? *std::move(job) : nullptr;
  }
  std::vector<pid_t> Pids() {
    std::vector<pid_t> pids;
    for (uint32_t rank = 0; rank < kRanks; ++rank) pids.push_back(ranks_->pid(rank));
    return pids;
  }

  std::unique_ptr<SpawnedRanks> ranks_;
};

TEST_F(SpawnedRanksTest, StayBetweenRunsAndJobs) {
  Start();
  const std::vector<pid_t> pids = Pids();
  EXPECT_EQ(std::set<pid_t>(pids.begin(), pids.end()).size(), kRanks);
  const auto first = Open(), second = Open();
  for (int runs = 0; runs < 3; ++runs) EXPECT_EQ(first->Run("count"), absl::OkStatus());
  EXPECT_EQ(second->Run("count"), absl::OkStatus());
  EXPECT_EQ(first->Run("3"), absl::OkStatus());
  EXPECT_EQ(second->Run("1"), absl::OkStatus());
  EXPECT_THAT(second->outcomes(), Each(absl::OkStatus()));
  EXPECT_EQ(Pids(), pids);
}

TEST_F(SpawnedRanksTest, AFailingRankEndsItsJobAndNothingElse) {
  Start();
  const std::vector<pid_t> pids = Pids();
  const auto other = Open();
  const auto job = Open();
  EXPECT_EQ(job->Run("fail"), absl::InternalError("rank 1: the valve is stuck"));
  EXPECT_THAT(Message(job->outcomes()[0]), HasSubstr("was given up: rank 1: the valve is stuck"));
  EXPECT_EQ(job->Run("count"),
            absl::FailedPreconditionError("the job has ended: rank 1: the valve is stuck; open a new one"));
  EXPECT_EQ(other->Run("count"), absl::OkStatus());
  EXPECT_EQ(Open()->Run("0"), absl::OkStatus());
  EXPECT_EQ(Pids(), pids);
}

TEST_F(SpawnedRanksTest, ADeathEndsAllJobsAndTheNextHasAFreshWorker) {
  Start();
  const std::vector<pid_t> pids = Pids();
  {
    const auto other = Open(), job = Open();
    const absl::Time begin = absl::Now();
    const absl::Status status = job->Run("die");
    EXPECT_LT(absl::Now() - begin, absl::Seconds(2));
    EXPECT_EQ(status, absl::UnavailableError(absl::StrCat("rank 1: killed by signal 9 (Killed), process ", pids[1])));
    EXPECT_THAT(Message(job->outcomes()[2]), HasSubstr("was given up: rank 1: killed by signal 9"));
    EXPECT_THAT(Message(other->Run("count")), HasSubstr("the job has ended: rank 1: killed by signal 9"));
  }
  const auto next = Open();
  EXPECT_EQ(next->Run("count"), absl::OkStatus());
  EXPECT_EQ(next->Run("1"), absl::OkStatus());
  EXPECT_EQ(ranks_->pid(0), pids[0]);
  EXPECT_NE(ranks_->pid(1), pids[1]);
}

TEST_F(SpawnedRanksTest, AWorkerThatLeavesSaysHow) {
  Start();
  EXPECT_THAT(Message(Open()->Run("leave")), MatchesRegex("rank 1: left with exit code 3, process [0-9]+"));
  EXPECT_EQ(Open()->Run("count"), absl::OkStatus());
}

TEST_F(SpawnedRanksTest, ADeathBetweenRunsEndsTheJob) {
  Start();
  const auto job = Open();
  kill(ranks_->pid(2), SIGKILL);
  EXPECT_THAT(Message(job->Run("count")), HasSubstr("rank 2: killed by signal 9 (Killed)"));
}

TEST_F(SpawnedRanksTest, AWorkerThatHangsIsKilledAndReplaced) {
  SpawnOptions options;
  options.grace = absl::Milliseconds(100);
  Start(options);
  const pid_t hung = ranks_->pid(1);
  {
    const auto job = Open();
    std::thread impatient([&job] {
      absl::SleepFor(absl::Milliseconds(50));
      job->Abort(absl::CancelledError("not wanted any more"));
    });
    EXPECT_EQ(job->Run("hang"), absl::CancelledError("not wanted any more"));
    impatient.join();
    EXPECT_THAT(Message(job->outcomes()[1]), HasSubstr("rank 1: did not return within 100ms of the job's end"));
  }
  EXPECT_EQ(Open()->Run("count"), absl::OkStatus());
  EXPECT_NE(ranks_->pid(1), hung);
}

TEST_F(SpawnedRanksTest, AWorkerThatLosesItsSocketIsReplaced) {
  Start();
  EXPECT_THAT(Message(Open()->Run("write")), HasSubstr("rank 1: sent 5 bytes on the socket of workers"));
  EXPECT_THAT(Message(Open()->Run("close")), HasSubstr("rank 1: left with exit code 1, process "));
  EXPECT_EQ(Open()->Run("count"), absl::OkStatus());
}

// A program that serves nobody holds up neither a job nor its end.
TEST(SpawnedRanksOfAnotherProgramTest, MissTheDeadline) {
  SpawnOptions options{.command = {"/bin/sleep", "1000"}};
  options.deadline = absl::Milliseconds(50);
  options.grace = absl::Milliseconds(10);
  const absl::Time begin = absl::Now();
  {
    const auto ranks = *SpawnedRanks::Start(kRanks, options);
    EXPECT_EQ(ranks->Open(4096).status(), absl::DeadlineExceededError("rank 0: did not return within 50ms"));
  }
  SpawnedRanks::Start(kRanks, options)->reset();
  EXPECT_LT(absl::Now() - begin, absl::Seconds(2.5));
}

// What one worker answers to a command.
absl::Status Answer(const WorkerProcess& worker, const WorkerCommand& command, std::string_view request = "",
                    int segment = -1) {
  EXPECT_EQ(SendCommand(worker.socket(), command, request, segment), absl::OkStatus());
  pollfd end = {worker.socket(), POLLIN, 0};
  EXPECT_EQ(poll(&end, 1, 60000), 1);
  return ReceiveOutcome(worker.socket())->value();
}

TEST(WorkerTest, RefusesOtherVersionsJobsAndMessages) {
  const auto worker = *WorkerProcess::Spawn({SGD_TEST_WORKER});
  EXPECT_THAT(
      Message(Answer(*worker, {.kind = WorkerCommand::Kind::kOpen, .build = "0.0.1"})),
      MatchesRegex("the worker program is version .*, the program that started it 0.0.1; expected one version.*"));
  EXPECT_EQ(Answer(*worker, {.job = 9}), absl::NotFoundError("job 9 is not open"));
  EXPECT_EQ(Answer(*worker, {.job = 9, .kind = WorkerCommand::Kind::kClose}), absl::OkStatus());
  EXPECT_THAT(Message(Answer(*worker, {.kind = WorkerCommand::Kind{7}})), HasSubstr("a command of an unknown kind"));
  ASSERT_EQ(send(worker->socket(), "hello", 5, 0), 5);
  EXPECT_THAT(worker->End(), HasSubstr("left with exit code 1, process "));
}

// The worker leaves with exit code 2 when it still has counts.
TEST(WorkerTest, ClosesJobsWhenTheProgramIsGone) {
  const auto segment = *comm::SharedMemorySegment::Create(1, 4096);
  const auto worker = *WorkerProcess::Spawn({SGD_TEST_WORKER});
  WorkerCommand open{.kind = WorkerCommand::Kind::kOpen, .deadline_nanoseconds = 60'000'000'000};
  comm::BuildVersion().copy(open.build, sizeof(open.build) - 1);
  EXPECT_EQ(Answer(*worker, open, "", segment->fd()), absl::OkStatus());
  EXPECT_EQ(Answer(*worker, {}, "count"), absl::OkStatus());
  EXPECT_THAT(worker->End(), HasSubstr("left with exit code 0, process "));
}

TEST_F(SpawnedRanksTest, WorkersInheritNoDescriptorsAndNoSignalSettings) {
  const comm::UniqueFd leaked(fcntl(STDERR_FILENO, F_DUPFD, 200));  // not closed by exec
  sigset_t blocked, before;
  sigemptyset(&blocked);
  sigaddset(&blocked, SIGUSR2);
  pthread_sigmask(SIG_BLOCK, &blocked, &before);
  const auto handler = signal(SIGUSR1, SIG_IGN);
  Start();
  signal(SIGUSR1, handler);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  const auto job = Open();
  EXPECT_EQ(job->Run("descriptors"), absl::OkStatus());
  EXPECT_EQ(job->Run("signals"), absl::OkStatus());
}

// The ends of the first worker's socket get the numbers 0 and 3.
TEST_F(SpawnedRanksTest, StartWithDescriptorsOfAnyNumber) {
  const comm::UniqueFd input(fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 100));
  const comm::UniqueFd third(fcntl(kWorkerSocket, F_DUPFD_CLOEXEC, 100));
  close(STDIN_FILENO);
  close(kWorkerSocket);
  Start();
  EXPECT_EQ(Open()->Run("descriptors"), absl::OkStatus());
  EXPECT_NE(fcntl(STDIN_FILENO, F_GETFD), -1);
  EXPECT_NE(fcntl(kWorkerSocket, F_GETFD), -1);
  ranks_.reset();
  if (input.valid()) dup2(input.get(), STDIN_FILENO);
  if (third.valid()) dup3(third.get(), kWorkerSocket, O_CLOEXEC);
}

TEST_F(SpawnedRanksTest, LeaveNoProcessBehind) {
  Start();
  const std::vector<pid_t> pids = Pids();
  EXPECT_THAT(Message(Open()->Run("die")), HasSubstr("killed by signal 9"));
  EXPECT_EQ(Open()->Run("count"), absl::OkStatus());
  ranks_.reset();
  EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1);
  EXPECT_EQ(errno, ECHILD);
  for (const pid_t pid : pids) EXPECT_EQ(kill(pid, 0), -1);
}

TEST_F(SpawnedRanksTest, AProgramMayIgnoreItsChildren) {
  const auto handler = signal(SIGCHLD, SIG_IGN);
  Start();
  EXPECT_THAT(Message(Open()->Run("die")), HasSubstr("rank 1: ended, and somebody else was told how, process "));
  EXPECT_EQ(Open()->Run("count"), absl::OkStatus());
  ranks_.reset();
  signal(SIGCHLD, handler);
}

// Also one that waits in a run.
TEST(SpawnedRanksDeathTest, WorkersEndWithTheProgram) {
  int pipe_ends[2];
  ASSERT_EQ(pipe(pipe_ends), 0);
  const pid_t program = fork();
  if (program == 0) {
    auto ranks = SpawnedRanks::Start(2, {.command = {SGD_TEST_WORKER}});
    const pid_t pids[] = {(*ranks)->pid(0), (*ranks)->pid(1)};
    static_cast<void>(!write(pipe_ends[1], pids, sizeof(pids)));
    static_cast<void>((*(*ranks)->Open(4096))->Run("hang"));
    _exit(0);
  }
  pid_t pids[2];
  ASSERT_EQ(read(pipe_ends[0], pids, sizeof(pids)), sizeof(pids));
  absl::SleepFor(absl::Milliseconds(100));
  kill(program, SIGKILL);
  EXPECT_EQ(waitpid(program, nullptr, 0), program);
  for (const pid_t pid : pids) {
    const absl::Time deadline = absl::Now() + absl::Seconds(20);
    while (IsRunning(pid) && absl::Now() < deadline) absl::SleepFor(absl::Milliseconds(10));
    EXPECT_FALSE(IsRunning(pid)) << pid;
  }
}

TEST_F(SpawnedRanksTest, ARankThatReturnsIsNotWaitedFor) {
  Start();
  EXPECT_THAT(Message(Open()->Run("return")), HasSubstr("rank 1 has already ended"));
}

TEST_F(SpawnedRanksTest, RefusesLongRequestsAndMissingPrograms) {
  Start();
  EXPECT_THAT(Message(Open()->Run(std::string(kMaxRequestBytes + 1, 'x'))),
              HasSubstr("a request of 65537 bytes; expected at most 65536"));
  EXPECT_EQ(Open()->Run(std::string(kMaxRequestBytes, 'x')), absl::OkStatus());
  SpawnOptions missing;
  missing.command = {"/nonexistent/worker"};
  EXPECT_THAT(Message(SpawnedRanks::Start(2, missing).status()),
              HasSubstr("rank 0: cannot start the worker program /nonexistent/worker"));
}

}  // namespace
}  // namespace sgd::workers
