// Standard error goes to an unnamed file, so that nobody blocks on a full pipe.
#include "job_process.h"

#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "runtime/process/transport_variables.h"

namespace sgd::process {
namespace {

constexpr size_t kBoardBytes = 4096;

std::atomic<pid_t>* Board(void* memory) { return static_cast<std::atomic<pid_t>*>(memory); }

}  // namespace

RankEnvironment LauncherOf(uint32_t size) {
  RankEnvironment environment;
  environment.is_launcher = true;
  environment.size = size;
  return environment;
}

RankEnvironment Alone(uint32_t rank, uint32_t size) {
  RankEnvironment environment;
  environment.rank = rank;
  environment.size = size;
  environment.rendezvous = absl::StrCat(testing::UnitTest::GetInstance()->current_test_info()->name(), "-", getpid());
  return environment;
}

JobOptions Options() {
  JobOptions options;
  options.window_bytes = 1 << 16;
  options.deadline = kTimeout;
  return options;
}

absl::Status SumRanks(RankContext& context) {
  comm::CollectiveSpec spec;
  spec.axes = {{0, 1, context.size}};
  spec.location = "test";
  spec.operands.resize(1);
  spec.operands[0].count = 1;
  auto handle = context.communicator->Prepare(comm::Mesh{{context.size}}, spec);
  if (!handle.ok()) return handle.status();
  float* value = reinterpret_cast<float*>(context.communicator->window());
  for (int step = 0; step < 100; ++step) {
    *value = static_cast<float>(context.rank);
    const absl::Status status = context.communicator->Execute(*handle, kTimeout);
    if (!status.ok()) return status;
  }
  const float expected = static_cast<float>(context.size * (context.size - 1) / 2);
  return *value == expected ? absl::OkStatus() : absl::InternalError("wrong sum");
}

namespace {

absl::Status MeetAndLaunch(const RankEnvironment& environment, const LaunchOptions& options, ProcessPolicy& policy,
                           const RankMain& rank_main, const std::function<absl::Status()>& prepare) {
  auto meeting =
      Meeting::Begin(environment, {options.window_bytes, options.plan}, options.secret, options.deadline, policy);
  if (!meeting.ok()) return meeting.status();
  if (absl::Status status = prepare(); !status.ok()) return (*meeting)->Fail(status);
  return Launch(environment, options, policy, rank_main, *std::move(meeting));
}

}  // namespace

JobProcess::JobProcess(const RankEnvironment& environment, const JobOptions& options, const RankMain& rank_main,
                       const std::function<absl::Status()>& prepare)
    : errors_(memfd_create("errors", MFD_CLOEXEC)) {
  std::fflush(nullptr);
  pid_ = fork();
  if (pid_ != 0) return;
  dup2(errors_.get(), STDERR_FILENO);
  SetTransportVariables();
  ProcessPolicy policy(
      {.stops_between_steps = options.stops_between_steps,
       .clean_up = options.clean_up,
       .note = [](const std::string& text) { dprintf(STDERR_FILENO, "sgdrun: note: %s\n", text.c_str()); }});
  const absl::Status status = prepare ? MeetAndLaunch(environment, options, policy, rank_main, prepare)
                                      : Launch(environment, options, policy, rank_main);
  if (IsInterrupted(status)) _exit(kExitInterrupted);
  if (!status.ok()) {
    const std::string line = absl::StrCat("sgdrun: ", status.message(), "\n");
    if (write(STDERR_FILENO, line.data(), line.size()) < 0) _exit(3);
  }
  _exit(status.ok() ? 0 : 1);
}

JobProcess::JobProcess(JobProcess&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)), errors_(std::move(other.errors_)) {}

JobProcess::~JobProcess() {
  if (pid_ <= 0) return;
  kill(pid_, SIGKILL);
  waitpid(pid_, nullptr, 0);
}

int JobProcess::Wait() {
  int status = 0;
  waitpid(std::exchange(pid_, -1), &status, 0);
  return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

std::string JobProcess::ReadErrors() {
  std::string text(1 << 16, '\0');
  const ssize_t length = pread(errors_.get(), text.data(), text.size(), 0);
  text.resize(length < 0 ? 0 : static_cast<size_t>(length));
  return text;
}

void ExpectCauseIn(const std::vector<std::string>& errors, const testing::Matcher<const std::string&>& cause) {
  const auto count = std::ranges::count_if(errors, [&](const std::string& error) { return cause.Matches(error); });
  EXPECT_EQ(count, 1) << testing::PrintToString(errors);
  for (const std::string& error : errors)
    EXPECT_THAT(error, testing::AnyOf(cause, testing::MatchesRegex("sgdrun: rank [0-9]+: ended with the job; rank "
                                                                   "[0-9]+ says why\n")));
}

pid_t LastChildOf(pid_t process, size_t children) {
  const std::string path = absl::StrCat("/proc/", process, "/task/", process, "/children");
  for (const absl::Time end = absl::Now() + kTimeout; absl::Now() < end; absl::SleepFor(absl::Milliseconds(2))) {
    std::ifstream file(path);
    const std::vector<pid_t> found{std::istream_iterator<pid_t>(file), std::istream_iterator<pid_t>()};
    if (found.size() >= children) return found.back();
  }
  std::abort();
}

PidBoard::PidBoard() : memory_(mmap(nullptr, kBoardBytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0)) {}

PidBoard::~PidBoard() { munmap(memory_, kBoardBytes); }

void PidBoard::Announce(uint32_t rank) { Board(memory_)[rank] = getpid(); }

pid_t PidBoard::WaitFor(uint32_t rank) {
  const absl::Time end = absl::Now() + absl::Seconds(30);
  while (Board(memory_)[rank] == 0 && absl::Now() < end) absl::SleepFor(absl::Milliseconds(1));
  const pid_t pid = Board(memory_)[rank];
  if (pid <= 0) std::abort();  // zero must never get to kill()
  return pid;
}

comm::UniqueFd PidBoard::Open(uint32_t rank) {
  return comm::UniqueFd(static_cast<int>(syscall(SYS_pidfd_open, WaitFor(rank), 0)));
}

StepBoard::StepBoard()
    : done(static_cast<std::atomic<uint64_t>*>(
          mmap(nullptr, kBoardBytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0))) {}

StepBoard::~StepBoard() { munmap(done, kBoardBytes); }

void StepBoard::WaitForSome(uint32_t ranks) const {
  for (uint32_t rank = 0; rank < ranks; ++rank) {
    while (done[rank] < 5) absl::SleepFor(absl::Milliseconds(1));
  }
}

bool EndsWithin(const comm::UniqueFd& process, absl::Duration time) {
  pollfd descriptor = {process.get(), POLLIN, 0};
  return poll(&descriptor, 1, static_cast<int>(absl::ToInt64Milliseconds(time))) == 1;
}

void ComputeForever() {
  volatile uint64_t sink = 0;
  while (true) sink = sink + 1;
}

}  // namespace sgd::process
