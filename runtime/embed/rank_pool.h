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
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "runtime/comm/collectives/communicator.h"
#include "runtime/device/device.h"
#include "runtime/device/target_plugin.h"
#include "runtime/launch/resident_ranks.h"

namespace sgd::embed {

// Opens the device of a rank, on the rank's thread.
using OpenDevice = std::function<absl::StatusOr<std::unique_ptr<device::Device>>(const launch::RankContext& rank)>;

struct RankPoolOptions {
  std::string target = "cpu";        // the artifacts' Artifact.target: "cpu", or "cuda" with a GPU for each rank
  OpenDevice open_device = nullptr;  // of CPUs; null: a CpuDevice on the rank's cores
  // By rank, its GPU among those that the driver shows. Empty: that of the rank's number.
  std::vector<uint32_t> gpus = {};
  // Whether programs are pipelines: GPUs then wait for messages while the host gives them more work.
  bool has_messages = false;
  absl::Duration timeout = absl::Seconds(300);  // for ranks of GPUs to meet
  uint32_t threads = 0;                         // per rank; 0: cores divided by ranks
  // As of launch::ResidentOptions.
  absl::Duration grace = absl::Seconds(1);
  // The same; not of GPUs, which belong to one thread. Such a rank saves a change of threads per step; a step that does
  // not end keeps its caller.
  bool single_on_caller = true;
  bool single_takes_turns = true;
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
  // ResourceExhausted where the system has no more threads. FailedPrecondition for a target that this build has not, or
  // InvalidArgument for a number of GPUs that is not that of the ranks.
  static absl::StatusOr<std::unique_ptr<RankPool>> Start(uint32_t ranks, const RankPoolOptions& options);

  uint32_t size() const { return ranks_->size(); }
  // The value of Artifact.target that the devices execute.
  const std::string& target() const { return options_.target; }
  // Whether the host reads and writes the memory of the devices by address, from any thread.
  bool is_host_memory() const { return plugin_ == nullptr; }
  // Windows of `window_bytes` are in the memory of the devices, which are opened the first time. Errors are theirs, or
  // as of launch::ResidentRanks. The pool must outlive the job.
  absl::StatusOr<std::unique_ptr<RankJob>> Open(uint64_t window_bytes);
  // As of launch::ResidentRanks: these are some of the ranks of a job over several processes.
  absl::StatusOr<std::unique_ptr<RankJob>> OpenSpread(uint64_t window_bytes, const launch::SpreadJob& spread);
  // As of launch::ResidentRanks.
  size_t lost() { return ranks_->lost(); }

  // Destroys what ranks hold of devices, by rank: on the ranks' threads and at the same time, since a GPU belongs to
  // its thread and communicators leave together. A lost function destroys what it shares when it returns.
  void Destroy(std::vector<std::shared_ptr<void>> objects);

  ~RankPool();
  RankPool(const RankPool&) = delete;
  RankPool& operator=(const RankPool&) = delete;

 private:
  friend class RankJob;
  using Communicators = std::vector<std::shared_ptr<comm::Communicator>>;  // by rank
  using Devices = std::vector<std::shared_ptr<device::Device>>;            // by rank

  RankPool(std::unique_ptr<launch::ResidentRanks> ranks, const RankPoolOptions& options,
           const device::TargetPlugin* plugin)
      : options_(options), plugin_(plugin), devices_(ranks->size()), ranks_(std::move(ranks)) {}
  absl::StatusOr<std::unique_ptr<device::Device>> OpenDeviceOf(const launch::RankContext& rank) const;
  absl::StatusOr<std::unique_ptr<RankJob>> Use(absl::StatusOr<std::unique_ptr<launch::ResidentJob>> job,
                                               uint64_t window_bytes);
  // Forgets a GPU whose work has failed, on its rank's thread: its context ends with the last program that uses it, and
  // a new one works again.
  void DropBroken(uint32_t rank, std::shared_ptr<device::Device>& device);
  absl::StatusOr<std::shared_ptr<const Devices>> DevicesOf(launch::ResidentJob& job);
  // Those of GPUs, over the control channel of the job; empty for CPUs, whose job has them.
  absl::StatusOr<Communicators> Connect(launch::ResidentJob& job, const std::shared_ptr<const Devices>& devices,
                                        uint64_t window_bytes);
  // Lost functions still use the devices of their ranks, which get others in later jobs.
  void Abandon(const std::vector<uint32_t>& lost);
  // Fails for a job over devices that have been abandoned since.
  absl::Status Check(const Devices& devices);

  const RankPoolOptions options_;
  const device::TargetPlugin* const plugin_;  // null for CPUs, which are built in
  std::mutex mutex_;
  Devices devices_;  // null before they are opened, and once they are abandoned
  // Destroyed first: waits for lost functions.
  const std::unique_ptr<launch::ResidentRanks> ranks_;
};

// A communicator of the pool's ranks, for one program. All but Abort and status belong to one thread at a time.
class RankJob {
 public:
  ~RankJob();
  RankJob(const RankJob&) = delete;
  RankJob& operator=(const RankJob&) = delete;

  // Runs `body` on every rank and returns when all have returned. Errors as of launch::ResidentJob::Run, whose lost
  // functions keep what `body` shares.
  absl::Status Run(const RankBody& body);

  // Why no more functions can be run; OK while they can.
  absl::Status status() const;
  void Abort(const absl::Status& cause) { job_->Abort(cause); }

 private:
  friend class RankPool;
  RankJob(RankPool& pool, std::unique_ptr<launch::ResidentJob> job, std::shared_ptr<const RankPool::Devices> devices,
          RankPool::Communicators communicators)
      : pool_(pool), devices_(std::move(devices)), job_(std::move(job)), communicators_(std::move(communicators)) {}

  RankPool& pool_;
  const std::shared_ptr<const RankPool::Devices> devices_;
  const std::unique_ptr<launch::ResidentJob> job_;
  RankPool::Communicators communicators_;  // of GPUs; a lost function shares its own
};

}  // namespace sgd::embed
