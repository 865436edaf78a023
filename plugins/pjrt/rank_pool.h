// Ranks inside the process, by their number: threads that stay, one device for each, which all programs share. A single
// rank has no thread of its own: it runs on the caller's.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/comm/one_host/shared_memory_communicator.h"
#include "runtime/device/device.h"
#include "runtime/launch/resident_ranks.h"

namespace sgd::pjrt {

// The argument of a function of a rank.
struct Rank {
  uint32_t index;
  comm::Communicator* communicator;  // of the job
  device::Device* device;            // of the rank
};

using RankBody = std::function<absl::Status(Rank rank)>;

// A communicator of a number of ranks, for one program.
class RankJob {
 public:
  virtual ~RankJob() = default;
  // Runs `body` on every rank and returns when all have returned. The first failure, which names its rank, ends the
  // job.
  virtual absl::Status Run(const RankBody& body) = 0;
};

class RankPool {
 public:
  virtual ~RankPool() = default;
  virtual absl::StatusOr<std::unique_ptr<RankJob>> Open(uint64_t window_bytes) = 0;
};

// The pools of a process. Programs run one at a time: `mutex` guards them, their memory, and which buffers are in it.
class RankPools {
 public:
  // Started the first time. ResourceExhausted where the system has no more threads.
  absl::StatusOr<RankPool*> Of(uint32_t ranks);

  std::recursive_mutex mutex;

 private:
  std::map<uint32_t, std::unique_ptr<RankPool>> pools_;
};

}  // namespace sgd::pjrt
