// Runs Launch() in processes of their own, as sgdrun would, and observes how they end.
#pragma once

#include <gmock/gmock.h>
#include <sys/types.h>

#include <atomic>
#include <functional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "runtime/comm/control/unique_fd.h"
#include "runtime/process/launch.h"

namespace sgd::process {

using namespace launch;

constexpr absl::Duration kTimeout = absl::Seconds(60);
// The promise is 100 ms on a machine of one's own; tests run beside others.
constexpr absl::Duration kLoaded = absl::Seconds(5);

// A process that starts `size` ranks.
RankEnvironment LauncherOf(uint32_t size);
// A rank that somebody else has started; the job is named after the running test and this process.
RankEnvironment Alone(uint32_t rank, uint32_t size);

// What a program like sgdrun decides about a job.
struct JobOptions : LaunchOptions {
  bool stops_between_steps = false;
  std::function<void()> clean_up;
};
// A window of 64 KiB and kTimeout as the deadline.
JobOptions Options();

// A rank's work: a hundred all-reduces of its number, checked.
absl::Status SumRanks(RankContext& context);

// A forked process that calls Launch and, like sgdrun, prints an error as one line and leaves with
// 0 or 1.
class JobProcess {
 public:
  // With `prepare`, what a rank does while it meets the others already.
  JobProcess(const RankEnvironment& environment, const JobOptions& options, const RankMain& rank_main,
             const std::function<absl::Status()>& prepare = nullptr);
  // Kills what is left.
  ~JobProcess();
  JobProcess(JobProcess&& other) noexcept;

  pid_t pid() const { return pid_; }
  // Waits for the end; returns the exit code, or minus the signal's number.
  int Wait();
  // Everything printed to standard error; call after the end.
  std::string ReadErrors();

 private:
  pid_t pid_ = -1;
  comm::UniqueFd errors_;
};

// One of these ranks of a host has printed the job's cause, and the others have referred to it.
void ExpectCauseIn(const std::vector<std::string>& errors, const testing::Matcher<const std::string&>& cause);

// The last of the children of a process, once it has so many; ends the test when they do not come.
pid_t LastChildOf(pid_t process, size_t children);

// Lets ranks tell the test their process ids, in shared memory.
class PidBoard {
 public:
  PidBoard();
  ~PidBoard();
  void Announce(uint32_t rank);  // by the rank itself
  pid_t WaitFor(uint32_t rank);  // by the test; ends it when the rank does not come
  // A descriptor that becomes readable when the process ends, whoever its parent is.
  comm::UniqueFd Open(uint32_t rank);

 private:
  void* memory_;
};

// How many steps each rank has done, in memory that ranks and test share.
struct StepBoard {
  StepBoard();
  ~StepBoard();
  void WaitForSome(uint32_t ranks) const;
  std::atomic<uint64_t>* done;
};

// Whether the process behind a pidfd ends within the time.
bool EndsWithin(const comm::UniqueFd& process, absl::Duration time);

// Keeps the core busy until the process is ended from outside.
[[noreturn]] void ComputeForever();

}  // namespace sgd::process
