// The ranks of this process that programs share: by their number, and with those of other processes by their devices.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "plugins/pjrt/process_ranks.h"
#include "plugins/pjrt/processes.h"
#include "runtime/embed/rank_pool.h"

namespace sgd::pjrt {

// The devices that a program runs on, by rank.
struct DeviceList {
  std::vector<int64_t> ids;
  std::vector<uint32_t> processes;  // that they belong to
};

// Programs run one at a time: `mutex` guards them, their memory, and which buffers are in it.
class RankPools {
 public:
  // `processes` is null for a process without others. `deadline`: for a rank to wait for another.
  RankPools(std::shared_ptr<const Processes> processes, absl::Duration deadline)
      : deadline(deadline), processes_(std::move(processes)) {}

  // Started the first time. ResourceExhausted where the system has no more threads.
  absl::StatusOr<embed::RankPool*> Of(uint32_t ranks);
  // The same, for devices of several processes; null where all are of this one.
  absl::StatusOr<ProcessRanks*> OfProcesses(const DeviceList& devices);

  uint32_t process() const { return processes_ == nullptr ? 0 : processes_->index(); }

  const absl::Duration deadline;
  std::recursive_mutex mutex;

 private:
  const std::shared_ptr<const Processes> processes_;
  std::map<uint32_t, std::unique_ptr<embed::RankPool>> pools_;
  std::map<std::vector<int64_t>, std::unique_ptr<ProcessRanks>> spread_;  // by devices
};

}  // namespace sgd::pjrt
