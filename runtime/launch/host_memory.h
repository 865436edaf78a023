// The memory that ranks of one host share in a job of several hosts.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "runtime/comm/control/control.h"
#include "runtime/comm/shared_memory/shared_memory_segment.h"
#include "runtime/launch/failure_policy.h"
#include "runtime/launch/local_ranks.h"

namespace sgd::launch {

// A segment that is there later than the control channel that is to end its waits. Any thread.
class HostMemory {
 public:
  // Ends the waits on it, now or as soon as it is there.
  void Abort(uint32_t at_fault, const absl::Status& cause);
  void Set(std::shared_ptr<comm::SharedMemorySegment> segment);

 private:
  std::mutex mutex_;
  std::shared_ptr<comm::SharedMemorySegment> segment_;
  uint32_t at_fault_ = 0;
  absl::Status cause_;
};

// Which ranks of a job share memory with this one.
struct HostRanks {
  std::vector<uint32_t> ranks;  // of the job
  uint32_t own = 0;             // index of this one
  std::string key;              // for comm::AgreeOnPlacement
  std::shared_ptr<comm::SharedMemorySegment> segment;
};

// All ranks of the job call it. Those of a launcher have its `segment`, for ranks [first, first + segment->ranks());
// those that were started one by one have none, and make one with the others of this host. `policy` gets notes.
absl::StatusOr<HostRanks> ShareMemory(comm::Control& control, std::shared_ptr<comm::SharedMemorySegment> segment,
                                      uint32_t first, const LocalRanks& local, uint64_t window_bytes,
                                      absl::Duration timeout, FailurePolicy& policy);

}  // namespace sgd::launch
