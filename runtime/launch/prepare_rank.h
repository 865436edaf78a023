// Resources of a rank of one host after it has joined the others: cores, threads, and the thread of its collectives.
#pragma once

#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"
#include "runtime/comm/one_host/shared_memory_communicator.h"
#include "runtime/launch/launch.h"

namespace sgd::launch {

// All ranks call it, each on the thread that is going to compute, which is bound to the rank's cores where ranks divide
// those of one mask among themselves. Borrows the communicator.
absl::StatusOr<RankContext> PrepareRank(comm::SharedMemoryCommunicator& communicator, const LaunchOptions& options);

// A rank of a segment, with what it got.
struct JoinedRank {
  std::unique_ptr<comm::SharedMemoryCommunicator> communicator;
  RankContext context;
};

// Connects a rank to the others of its segment, then prepares it. Called as PrepareRank is.
absl::StatusOr<JoinedRank> JoinRank(std::shared_ptr<comm::SharedMemorySegment> segment, uint32_t rank,
                                    const LaunchOptions& options);

}  // namespace sgd::launch
