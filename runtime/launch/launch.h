// Runs a rank's main function on every rank of a job: under our own supervisor or joined to ranks
// started one by one.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "runtime/comm/communicator.h"
#include "runtime/comm/control.h"
#include "runtime/launch/comm_thread.h"
#include "runtime/launch/interruption.h"
#include "runtime/launch/meeting.h"
#include "runtime/launch/rank_environment.h"

namespace sgd::launch {

struct LaunchOptions {
  uint64_t window_bytes = 0;                     // of every rank, from the artifact
  absl::Duration deadline = absl::Seconds(300);  // for the ranks to find each other, and for the last one to end
  uint32_t threads = 0;                          // per rank; 0: cores of this host divided by its ranks, at least 1
  CommThread comm_thread = CommThread::kAuto;    // equal on all ranks, else FailedPrecondition
  std::string secret;                            // of ranks on several hosts, who prove to each other that they have it
  std::string net_devices;  // that CPU ranks on several hosts may use, as of comm::TransportOptions
  // Whether the first SIGINT or SIGTERM to the launcher or to any rank makes Control::BeginStep end the loop of all
  // ranks after the same step, else it ends the job at once, as the second one does anyway.
  bool stops_between_steps = false;
  // Called before this process ends at once, by a signal or because a peer has died: removes unfinished files. May be
  // empty; runs on any thread, and once.
  std::function<void()> clean_up;
};

// The arguments of a rank's main function. Control and communicator live as long as the context.
struct RankContext {
  uint32_t rank = 0;
  uint32_t size = 1;
  uint32_t local_rank = 0;   // among those of this host
  uint32_t local_size = 1;   // ranks of this host
  uint32_t threads = 1;      // compute threads of this rank; the process is already bound to its cores
  std::vector<int> cores;    // this rank's alone, one for each thread; empty where there are more or fewer
  bool shares_cores = true;  // whether threads of this job have to wait for each other's cores
  comm::Control* control = nullptr;
  comm::Communicator* communicator = nullptr;  // null on several hosts without windows, as for GPUs
};

// Returns the rank's outcome, which may be Interrupted(); errors name the instruction and location. Must not exit the
// process on its own.
using RankMain = std::function<absl::Status(RankContext& context)>;

// As a launcher: forks `size` ranks (so call it before any thread exists), binds them to disjoint
// cores, waits for all, and returns the first error of the job with its rank. Of a job of one rank
// it runs `rank_main` in this process. As one rank: joins its peers, runs `rank_main` and returns
// its error. In both cases, when a peer dies this process ends within 100 ms, if need be by the
// watcher printing the cause as one line to standard error and leaving with exit code 1.
// Interrupted() when all ranks have stopped as they were asked to. `meeting`, if it has begun, is that of this rank.
absl::Status Launch(const RankEnvironment& environment, const LaunchOptions& options, const RankMain& rank_main,
                    std::unique_ptr<Meeting> meeting = nullptr);

}  // namespace sgd::launch
