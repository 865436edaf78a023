// Runs a rank's main function as one rank of a job: joined to ranks started one by one, or beside those that somebody
// has started with a segment to share.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "runtime/comm/collectives/communicator.h"
#include "runtime/comm/control/control.h"
#include "runtime/comm/shared_memory/shared_memory_segment.h"
#include "runtime/launch/comm_thread.h"
#include "runtime/launch/failure_policy.h"
#include "runtime/launch/interruption.h"
#include "runtime/launch/meeting.h"
#include "runtime/launch/rank_environment.h"

namespace sgd::launch {

struct LaunchOptions {
  uint64_t window_bytes = 0;                     // of every rank, from the artifact
  std::string plan;                              // name of what runs, equal on all ranks; may be empty
  absl::Duration deadline = absl::Seconds(300);  // for the ranks to find each other, and for the last one to end
  uint32_t threads = 0;                          // per rank; 0: cores of this host divided by its ranks, at least 1
  CommThread comm_thread = CommThread::kAuto;    // equal on all ranks, else FailedPrecondition
  std::string secret;                            // of ranks on several hosts, who prove to each other that they have it
  std::string net_devices;          // that CPU ranks on several hosts may use, as of comm::TransportOptions
  std::vector<int> avoided_cores;   // that ranks started here are not bound to, if enough others are there
  FailurePolicy* policy = nullptr;  // borrowed, never null
};

// The arguments of a rank's main function. Control and communicator live as long as the context.
struct RankContext {
  uint32_t rank = 0;
  uint32_t size = 1;
  uint32_t local_rank = 0;   // among those of this host
  uint32_t local_size = 1;   // ranks of this host
  uint32_t resident = 0;     // among the ranks that are threads of this process
  uint32_t threads = 1;      // compute threads of this rank; the process is already bound to its cores
  std::vector<int> cores;    // this rank's alone, one for each thread; empty where there are more or fewer
  bool shares_cores = true;  // whether threads of this job have to wait for each other's cores
  comm::Control* control = nullptr;
  comm::Communicator* communicator = nullptr;  // null on several hosts without windows, as for GPUs
  FailurePolicy* policy = nullptr;             // null: a ReturningPolicy
};

// Returns the rank's outcome, which may be Interrupted(); errors name the instruction and location. Must not exit the
// process on its own.
using RankMain = std::function<absl::Status(RankContext& context)>;

// Joins the peers that the environment names, or none of a job of one rank, runs `rank_main` and returns its error, or
// that of the job. `meeting`, if it has begun, is that of this rank. The environment is no launcher's of several ranks.
absl::Status RunRank(const RankEnvironment& environment, const LaunchOptions& options, const RankMain& rank_main,
                     std::unique_ptr<Meeting> meeting = nullptr);

// Runs `rank_main` as rank `rank` of those that share the segment, each a process that its supervisor has started. The
// supervisor reports and ends ranks that do not end by themselves; the watcher of each rank is the second line.
absl::Status RunSupervised(const std::shared_ptr<comm::SharedMemorySegment>& segment, uint32_t rank,
                           const LaunchOptions& options, const RankMain& rank_main);

}  // namespace sgd::launch
