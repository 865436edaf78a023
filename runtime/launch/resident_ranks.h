// Ranks inside a program: threads that stay between jobs. A failing rank ends its job, not the program or the ranks.
//
//   ranks = ResidentRanks::Start(4, {});
//   job   = ranks->Open(file.root().window_bytes());
//   job->Run([&](RankContext& context) { prepares states[context.rank] });
//   job->Run([&](RankContext& context) { runs steps of it });  ...
//
// Several jobs may be open, say one for each artifact; their runs take turns. A job may have further ranks in other
// processes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "runtime/comm/shared_memory/shared_memory_segment.h"
#include "runtime/comm/tcp/socket_address.h"
#include "runtime/comm/tcp/tcp_connection.h"
#include "runtime/launch/comm_thread.h"
#include "runtime/launch/failure_policy.h"
#include "runtime/launch/launch.h"
#include "runtime/launch/membership.h"
#include "runtime/launch/rank_thread.h"
#include "runtime/launch/resident_run.h"

namespace sgd::launch {

struct ResidentOptions {
  uint32_t threads = 0;  // as of LaunchOptions
  CommThread comm_thread = CommThread::kAuto;
  absl::Duration deadline = absl::Seconds(300);  // for the last rank to return once the first has
  absl::Duration grace = absl::Seconds(1);       // for ranks to return once their job has ended
  FailurePolicy* policy = nullptr;               // borrowed; null: a ReturningPolicy
  // A single rank has no thread of its own: it runs on the one that calls Run, and cannot be lost.
  bool single_on_caller = false;
  // Whether such a rank waits for the runs of other jobs; false where runs nest, which the caller keeps apart.
  bool single_takes_turns = true;
};

// A job over several processes, each with some of its ranks.
struct SpreadJob {
  uint32_t size = 1;            // of the job
  std::vector<uint32_t> ranks;  // of this process, in rising order
  comm::HostAndPort place;      // where rank 0 listens, equal in all processes
  // In the process with rank 0: listens there. Borrowed while the job is opened.
  comm::TcpAcceptor* acceptor = nullptr;
  std::string secret;                            // equal in all processes
  absl::Duration deadline = absl::Seconds(300);  // for the ranks to find each other
  // Asked while the ranks look for each other, may be empty: its error ends that.
  std::function<absl::Status()> own_failure = nullptr;
};

class ResidentJob;
class Outcomes;  // resident_ranks.cpp

class ResidentRanks {
 public:
  // Divides the cores of the calling thread among the ranks, where there are enough. ResourceExhausted without threads.
  static absl::StatusOr<std::unique_ptr<ResidentRanks>> Start(uint32_t ranks, const ResidentOptions& options);
  // No job may be left. Waits for lost functions.
  ~ResidentRanks();
  ResidentRanks(const ResidentRanks&) = delete;
  ResidentRanks& operator=(const ResidentRanks&) = delete;

  uint32_t size() const { return static_cast<uint32_t>(threads_.size()); }
  // Whether its single rank runs on the thread that calls.
  bool is_on_caller() const { return options_.single_on_caller && size() == 1; }

  // A job of all ranks, whose windows have `window_bytes` each. Errors name the rank; ResourceExhausted when memory is.
  absl::StatusOr<std::unique_ptr<ResidentJob>> Open(uint64_t window_bytes);
  // The same of a job over several processes, all of which call it; `spread` has as many ranks of this process as there
  // are here. Errors of meetings are as of TcpRank. What ends the job in one process ends it in all.
  absl::StatusOr<std::unique_ptr<ResidentJob>> OpenSpread(uint64_t window_bytes, const SpreadJob& spread);

  // The number of functions of ended jobs that still run, on threads that their ranks have abandoned.
  size_t lost();

 private:
  friend class ResidentJob;
  ResidentRanks(uint32_t ranks, const ResidentOptions& options);

  // Runs a function on each rank's thread, waits, and returns the outcomes by rank: nothing for lost ranks. A failing
  // rank ends the job of `segment`.
  RunOutcomes RunOnAll(const std::shared_ptr<comm::SharedMemorySegment>& segment,
                       const std::function<RankThread::Body(uint32_t rank)>& body_of);
  LaunchOptions OptionsOf(uint64_t window_bytes) const;
  RunOutcomes WaitForAll(comm::SharedMemorySegment& segment, Outcomes& outcomes);
  // Gives a thread to each rank that has none.
  absl::Status StartThreads();

  const ResidentOptions options_;
  ReturningPolicy returns_;
  std::vector<std::vector<int>> cores_;               // by rank; empty where ranks share them
  std::timed_mutex mutex_;                            // held while ranks run
  std::vector<std::unique_ptr<RankThread>> threads_;  // by rank; null where one is lost
  std::mutex lost_mutex_;
  std::vector<std::unique_ptr<RankThread>> lost_;
};

// A communicator of the resident ranks. All but Abort, RequestStop and status belong to one thread.
class ResidentJob {
 public:
  ~ResidentJob();
  ResidentJob(const ResidentJob&) = delete;
  ResidentJob& operator=(const ResidentJob&) = delete;

  // Runs `rank_main` on every rank, always on the same thread of a rank, and returns when all ranks have returned.
  // Control and communicator live as long as the job, and contexts and executors that ranks keep must not outlive it.
  //
  // The first rank to fail, or to be missed by others or for the deadline, ends the job: waits of the others end, Run
  // returns the cause, "rank 1: ...", and FailedPrecondition from then on. A rank that has not returned within the
  // grace is lost: its copy of `rank_main` goes on, and keeps the communicator; the rank gets another thread for
  // further jobs. Where ranks may be lost, `rank_main` shares what it uses, by std::shared_ptr.
  // Interrupted() when ranks have stopped as they were asked to.
  absl::Status Run(const RankMain& rank_main);
  // Of the last Run, by rank.
  const std::vector<absl::Status>& outcomes() const { return outcomes_; }
  // The ranks that the last Run has lost.
  const std::vector<uint32_t>& lost() const { return lost_; }

  // The cause of the job's end; OK while it goes on.
  absl::Status status() const { return segment_->abort_cause(); }
  // Ends the job unless it has ended. Over several processes it takes up to a second until the others know.
  void Abort(const absl::Status& cause);
  // As of comm::Control.
  void RequestStop(int signal) { segment_->RequestStop(signal); }

 private:
  friend class ResidentRanks;
  using Join = std::function<absl::StatusOr<std::unique_ptr<Membership>>(uint32_t rank)>;
  ResidentJob(ResidentRanks& ranks, std::shared_ptr<comm::SharedMemorySegment> segment, bool is_spread);
  absl::Status Connect(const Join& join);
  absl::Status RunOnRanks(const std::function<absl::Status(uint32_t rank, std::unique_ptr<Membership>& member)>& body);
  void TellOthers(const absl::Status& cause);

  ResidentRanks& ranks_;
  const std::shared_ptr<comm::SharedMemorySegment> segment_;  // of the ranks of this process
  const bool is_spread_;
  std::vector<std::shared_ptr<std::unique_ptr<Membership>>> members_;  // by rank; a lost function shares its own
  std::vector<absl::Status> outcomes_;
  std::vector<uint32_t> lost_;
};

}  // namespace sgd::launch
