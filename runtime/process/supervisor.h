// Starts the ranks of one host as child processes, and sees to it that they end together.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "runtime/comm/shared_memory/shared_memory_segment.h"

namespace sgd::process {

// How a job of ranks that were started here has failed.
struct Failure {
  absl::Status cause;            // begins with the rank at fault, where one is
  std::optional<uint32_t> rank;  // that one
  uint64_t steps_begun = 0;      // by the rank that was furthest
  int stop_signal = 0;           // with which the user has asked to end the run before; 0: has not
};

struct SupervisorOptions {
  uint32_t ranks = 1;
  uint32_t first_rank = 0;  // its number in the job
  uint64_t window_bytes = 0;
  absl::Duration
      deadline;  // for the last rank to end once the first has ended, and for ranks that are all stopped to go on
  std::vector<int> avoided_cores;    // as of launch::LaunchOptions
  bool stops_between_steps = false;  // see ProcessPolicy
  // With `stops_between_steps`: called on SIGHUP, and says whether that asks the ranks to stop. May be empty.
  std::function<bool()> hang_up = nullptr;
  // Called at the end of a job that has failed. May be empty.
  std::function<void(const Failure& failure)> failed = nullptr;
  // Called when a rank has died of which nothing was heard, while none of this host has met those of other hosts (its
  // flag's state says so): tells them. True when they heard, which tells the ranks of this host too. May be empty.
  std::function<bool(uint32_t rank, const absl::Status& cause)> report_death = nullptr;
};

// Runs in a child process as one rank, numbered from 0; its error becomes the job's unless another rank's came
// first.
using ChildMain = std::function<absl::Status(uint32_t rank, const std::shared_ptr<comm::SharedMemorySegment>& segment)>;

// Forks the ranks, each bound to its own cores where there are enough, standard output and error
// shared with this process. Call it before any thread exists. Returns once every child has been
// collected: OK, or the first error of the job, "rank R: cause". When a rank fails or dies the
// others have 25 ms to end (a second where they hear of it from other hosts), then they are killed, stopped ones too.
// With `stops_between_steps` the first SIGINT, SIGTERM or SIGUSR1 asks the ranks to stop; any other ends them as an
// error does. Interrupted() when they have stopped. When this process is killed the kernel kills the children.
absl::Status Supervise(const SupervisorOptions& options, const ChildMain& child_main);

}  // namespace sgd::process
