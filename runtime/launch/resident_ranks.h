// Ranks inside a program: threads that stay between jobs. A failing rank ends its job, not the program or the ranks.
//
//   ranks = ResidentRanks::Start(4, {});
//   job   = ranks->Open(file.root().window_bytes());
//   job->Run([&](RankContext& context) { prepares states[context.rank] });
//   job->Run([&](RankContext& context) { runs steps of it });  ...
//
// Several jobs may be open, say one for each artifact; their runs take turns.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "runtime/comm/shared_memory/shared_memory_segment.h"
#include "runtime/launch/comm_thread.h"
#include "runtime/launch/failure_policy.h"
#include "runtime/launch/launch.h"
#include "runtime/launch/prepare_rank.h"
#include "runtime/launch/rank_thread.h"

namespace sgd::launch {

struct ResidentOptions {
  uint32_t threads = 0;  // as of LaunchOptions
  CommThread comm_thread = CommThread::kAuto;
  absl::Duration deadline = absl::Seconds(300);  // for the last rank to return once the first has
  absl::Duration grace = absl::Seconds(1);       // for ranks to return once their job has ended
  FailurePolicy* policy = nullptr;               // borrowed; null: a ReturningPolicy
};

class ResidentJob;

class ResidentRanks {
 public:
  // Divides the cores of the calling thread among the ranks, where there are enough. ResourceExhausted without threads.
  static absl::StatusOr<std::unique_ptr<ResidentRanks>> Start(uint32_t ranks, const ResidentOptions& options);
  // No job may be left. Waits for lost functions.
  ~ResidentRanks();
  ResidentRanks(const ResidentRanks&) = delete;
  ResidentRanks& operator=(const ResidentRanks&) = delete;

  uint32_t size() const { return static_cast<uint32_t>(threads_.size()); }

  // A job of all ranks, whose windows have `window_bytes` each. Errors name the rank; ResourceExhausted when memory is.
  absl::StatusOr<std::unique_ptr<ResidentJob>> Open(uint64_t window_bytes);

  // The number of functions of ended jobs that still run, on threads that their ranks have abandoned.
  size_t lost();

 private:
  friend class ResidentJob;
  ResidentRanks(uint32_t ranks, const ResidentOptions& options);

  // Runs a function on each rank's thread, waits, and returns the outcomes by rank. A failing rank ends the job of
  // `segment`.
  std::vector<absl::Status> RunOnAll(const std::shared_ptr<comm::SharedMemorySegment>& segment,
                                     const std::function<RankThread::Body(uint32_t rank)>& body_of);
  // Gives a thread to each rank that has none.
  absl::Status StartThreads();

  const ResidentOptions options_;
  std::vector<std::vector<int>> cores_;               // by rank; empty where ranks share them
  std::mutex mutex_;                                  // held while ranks run
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

  // The cause of the job's end; OK while it goes on.
  absl::Status status() const { return segment_->abort_cause(); }
  // Ends the job unless it has ended.
  void Abort(const absl::Status& cause) { segment_->Abort(comm::SharedMemorySegment::kNoRank, cause); }
  // As of comm::Control.
  void RequestStop(int signal) { segment_->RequestStop(signal); }

 private:
  friend class ResidentRanks;
  ResidentJob(ResidentRanks& ranks, std::shared_ptr<comm::SharedMemorySegment> segment);
  absl::Status Connect();
  absl::Status RunOnRanks(const std::function<absl::Status(uint32_t rank, JoinedRank& joined)>& body);

  ResidentRanks& ranks_;
  const std::shared_ptr<comm::SharedMemorySegment> segment_;
  std::vector<std::shared_ptr<JoinedRank>> joined_;  // by rank; a lost function shares its own
  std::vector<absl::Status> outcomes_;
};

}  // namespace sgd::launch
