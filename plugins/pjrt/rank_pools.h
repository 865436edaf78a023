// The ranks of this process that programs share: of CPUs by their number, of GPUs by which GPUs they are, and with
// those of other processes by their devices.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "plugins/pjrt/gpu_memory.h"
#include "plugins/pjrt/host_calls.h"
#include "plugins/pjrt/process_ranks.h"
#include "plugins/pjrt/processes.h"
#include "plugins/pjrt/target.h"
#include "runtime/embed/rank_pool.h"

namespace sgd::pjrt {

// The devices that a program runs on, by rank.
struct DeviceList {
  std::vector<int64_t> ids;
  std::vector<uint32_t> processes;  // that they belong to
};

// Programs run one at a time: `mutex` guards them, their memory, and which buffers are in it. A program that calls
// functions of the process gives it free meanwhile.
class RankPools {
 public:
  // `processes` is null for a process without others. `deadline`: for a rank to wait for another.
  RankPools(Target target, std::shared_ptr<const Processes> processes, absl::Duration deadline);
  ~RankPools();

  const Target& target() const { return target_; }

  // Ranks on the devices, by rank. Started the first time. ResourceExhausted where the system has no more threads.
  absl::StatusOr<embed::RankPool*> Of(std::vector<uint32_t> devices);
  // The same, for devices of several processes; null where all are of this one.
  absl::StatusOr<ProcessRanks*> OfProcesses(const DeviceList& devices);

  uint32_t process() const { return processes_ == nullptr ? 0 : processes_->index(); }

  // The memory of a GPU, which ranks on it share.
  GpuMemory& gpu(uint32_t device) { return *gpus_[device]; }
  // Copies bytes of a GPU to the host. Not on the thread of a rank.
  absl::Status Read(uint32_t device, const std::byte* source, std::span<std::byte> target);

  const absl::Duration deadline;
  std::recursive_mutex mutex;
  RunningPrograms running;

 private:
  const Target target_;
  const std::shared_ptr<const Processes> processes_;
  std::map<std::vector<uint32_t>, std::unique_ptr<embed::RankPool>> pools_;
  std::map<std::vector<int64_t>, std::unique_ptr<ProcessRanks>> spread_;  // by devices
  std::vector<std::unique_ptr<GpuMemory>> gpus_;                          // by device
};

}  // namespace sgd::pjrt
