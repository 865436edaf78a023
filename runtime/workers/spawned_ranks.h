// Ranks that are processes of their own and stay between jobs. They are used as launch::ResidentRanks are, with two
// differences: a rank that dies or is lost is started again, and a run sends bytes to the worker program
// (process/worker.h) instead of calling a function.
//
//   ranks = SpawnedRanks::Start(4, {.command = {"/usr/libexec/my-worker"}});
//   job   = ranks->Open(file.root().window_bytes());
//   job->Run("prepare train.sgda");
//   job->Run("step 0");  ...
//
// Several jobs may be open; their runs take turns.
#pragma once

#include <sched.h>
#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "runtime/comm/shared_memory/shared_memory_segment.h"
#include "runtime/launch/comm_thread.h"
#include "runtime/workers/worker_messages.h"
#include "runtime/workers/worker_process.h"

namespace sgd::workers {

struct SpawnOptions {
  std::vector<std::string> command;  // path of the worker program, and its arguments
  uint32_t threads = 0;              // as of LaunchOptions
  launch::CommThread comm_thread = launch::CommThread::kAuto;
  absl::Duration deadline = absl::Seconds(300);  // for the last rank to return once the first has; to open a job
  absl::Duration grace = absl::Seconds(1);       // for ranks to return once their job has ended
};

class SpawnedJob;

class SpawnedRanks {
 public:
  // Starts a worker for each rank, each bound to its share of the calling thread's cores if there are enough. Errors
  // name the rank.
  static absl::StatusOr<std::unique_ptr<SpawnedRanks>> Start(uint32_t ranks, const SpawnOptions& options);
  // No job may be left. Kills workers that do not end within a second.
  ~SpawnedRanks();
  SpawnedRanks(const SpawnedRanks&) = delete;
  SpawnedRanks& operator=(const SpawnedRanks&) = delete;

  uint32_t size() const { return static_cast<uint32_t>(workers_.size()); }
  // Process of the rank's worker; -1 if the rank has none until the next job. Waits for a run to end.
  pid_t pid(uint32_t rank);

  // Opens a job of all ranks, whose windows have `window_bytes` each. Starts workers for ranks that have lost theirs.
  // Errors name the rank.
  absl::StatusOr<std::unique_ptr<SpawnedJob>> Open(uint64_t window_bytes);

 private:
  friend class SpawnedJob;
  class Exchange;
  SpawnedRanks(uint32_t ranks, const SpawnOptions& options);

  absl::Status StartWorkers();
  WorkerCommand OpenCommand(uint64_t job, uint32_t rank) const;
  // Ends the worker of a rank, and all jobs with it: each has all ranks.
  void Drop(uint32_t rank, const absl::Status& cause);
  // Lets workers forget a job.
  void Close(uint64_t job, comm::SharedMemorySegment& segment);

  const SpawnOptions options_;
  std::vector<cpu_set_t> cores_;                                    // by rank; empty if ranks share them
  std::mutex mutex_;                                                // held while workers run
  std::vector<std::unique_ptr<WorkerProcess>> workers_;             // by rank; null if the rank has none
  uint64_t jobs_ = 0;                                               // opened so far
  std::vector<std::weak_ptr<comm::SharedMemorySegment>> segments_;  // of open jobs
};

// A communicator of the workers. All but Abort, RequestStop and status belong to one thread.
class SpawnedJob {
 public:
  ~SpawnedJob();
  SpawnedJob(const SpawnedJob&) = delete;
  SpawnedJob& operator=(const SpawnedJob&) = delete;

  // Sends `request`, of at most kMaxRequestBytes, to all workers and returns when all have returned.
  //
  // The first rank to fail, to die, or to be missed for the deadline ends the job: waits of the others end, Run returns
  // the cause, "rank 1: killed by signal 9 (Killed), process 4711", and FailedPrecondition from then on. A rank that
  // has not returned within the grace is killed, which ends all jobs. launch::Interrupted() when ranks have stopped as
  // they were asked to.
  absl::Status Run(std::string_view request);
  // Of the last Run, by rank.
  const std::vector<absl::Status>& outcomes() const { return outcomes_; }

  // The cause of the job's end; OK while it goes on.
  absl::Status status() const { return segment_->abort_cause(); }
  // Ends the job unless it has ended.
  void Abort(const absl::Status& cause) { segment_->Abort(comm::SharedMemorySegment::kNoRank, cause); }
  // As of comm::Control.
  void RequestStop(int signal) { segment_->RequestStop(signal); }

 private:
  friend class SpawnedRanks;
  SpawnedJob(SpawnedRanks& ranks, uint64_t number, std::shared_ptr<comm::SharedMemorySegment> segment)
      : ranks_(ranks), number_(number), segment_(std::move(segment)) {}

  SpawnedRanks& ranks_;
  const uint64_t number_;
  const std::shared_ptr<comm::SharedMemorySegment> segment_;
  std::vector<absl::Status> outcomes_;
};

}  // namespace sgd::workers
