// Ranks inside the process, each with a device, which programs share: their runs take turns.
//
//   pool = RankPool::Start(4, {});
//   job  = pool->Open(file.root().window_bytes());
//   job->Run([&](const Rank& rank) { prepares programs[rank.index] on rank.device });
//   job->Run([&](const Rank& rank) { runs a step of it });  ...
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
#include "runtime/comm/collectives/communicator.h"
#include "runtime/device/device.h"
#include "runtime/launch/resident_ranks.h"

namespace sgd::embed {

// Opens the device of a rank, on the rank's thread.
using OpenDevice = std::function<absl::StatusOr<std::unique_ptr<device::Device>>(const launch::RankContext& rank)>;

struct RankPoolOptions {
  OpenDevice open_device = nullptr;  // null: a CpuDevice on the rank's cores
  uint32_t threads = 0;              // per rank; 0: cores divided by ranks
  // As of launch::ResidentOptions.
  absl::Duration grace = absl::Seconds(1);
  // The same. Such a rank saves a change of threads per step; a step that does not end keeps its caller.
  bool single_on_caller = true;
};

// The argument of a function of a rank.
struct Rank {
  uint32_t index;                          // in the pool
  comm::Communicator* communicator;        // of the job
  std::shared_ptr<device::Device> device;  // of the rank; what a function keeps of it must not outlive it
};

using RankBody = std::function<absl::Status(const Rank& rank)>;

class RankJob;

// Any thread.
class RankPool {
 public:
  // ResourceExhausted where the system has no more threads.
  static absl::StatusOr<std::unique_ptr<RankPool>> Start(uint32_t ranks, const RankPoolOptions& options);

  uint32_t size() const { return ranks_->size(); }
  // Opens devices the first time. Errors are theirs, or as of launch::ResidentRanks. The pool must outlive the job.
  absl::StatusOr<std::unique_ptr<RankJob>> Open(uint64_t window_bytes);
  // As of launch::ResidentRanks: these are some of the ranks of a job over several processes.
  absl::StatusOr<std::unique_ptr<RankJob>> OpenSpread(uint64_t window_bytes, const launch::SpreadJob& spread);
  // As of launch::ResidentRanks.
  size_t lost() { return ranks_->lost(); }

 private:
  friend class RankJob;
  using Devices = std::vector<std::shared_ptr<device::Device>>;  // by rank

  RankPool(std::unique_ptr<launch::ResidentRanks> ranks, OpenDevice open_device)
      : open_device_(std::move(open_device)), devices_(ranks->size()), ranks_(std::move(ranks)) {}
  absl::StatusOr<std::unique_ptr<device::Device>> OpenDeviceOf(const launch::RankContext& rank) const;
  absl::StatusOr<std::unique_ptr<RankJob>> Use(absl::StatusOr<std::unique_ptr<launch::ResidentJob>> job);
  absl::StatusOr<std::shared_ptr<const Devices>> DevicesOf(launch::ResidentJob& job);
  // Lost functions still use the devices of their ranks, which get others in later jobs.
  void Abandon(const std::vector<uint32_t>& lost);
  // Fails for a job over devices that have been abandoned since.
  absl::Status Check(const Devices& devices);

  const OpenDevice open_device_;
  std::mutex mutex_;
  Devices devices_;  // null before they are opened, and once they are abandoned
  // Destroyed first: waits for lost functions.
  const std::unique_ptr<launch::ResidentRanks> ranks_;
};

// A communicator of the pool's ranks, for one program. All but Abort and status belong to one thread at a time.
class RankJob {
 public:
  // Runs `body` on every rank and returns when all have returned. Errors as of launch::ResidentJob::Run, whose lost
  // functions keep what `body` shares.
  absl::Status Run(const RankBody& body);

  // Why no more functions can be run; OK while they can.
  absl::Status status() const;
  void Abort(const absl::Status& cause) { job_->Abort(cause); }

 private:
  friend class RankPool;
  RankJob(RankPool& pool, std::unique_ptr<launch::ResidentJob> job, std::shared_ptr<const RankPool::Devices> devices)
      : pool_(pool), devices_(std::move(devices)), job_(std::move(job)) {}

  RankPool& pool_;
  const std::shared_ptr<const RankPool::Devices> devices_;
  const std::unique_ptr<launch::ResidentJob> job_;
};

}  // namespace sgd::embed
