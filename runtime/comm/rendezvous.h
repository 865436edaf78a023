// How ranks that were started one by one on one host find each other and come to share a segment.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "runtime/comm/shared_memory_segment.h"

namespace sgd::comm {

struct RendezvousOptions {
  std::string name;  // equal on all ranks of the job, different from other jobs' of this host
  uint32_t rank = 0;
  uint32_t size = 1;
  uint64_t window_bytes = 0;
  absl::Duration timeout;
};

// Rank 0 listens on an abstract Unix socket named after the user and the job, makes the segment and
// passes its memfd to the others; nothing has a name in a file system, so nothing is left behind.
// On success the segment holds every rank's pid. Errors: ranks that contradict each other
// (kFailedPrecondition, said on every rank), missing ones at the timeout (kDeadlineExceeded, naming
// them), one that died meanwhile (kUnavailable), a name in use by another job (kAlreadyExists).
absl::StatusOr<std::shared_ptr<SharedMemorySegment>> Rendezvous(const RendezvousOptions& options);

}  // namespace sgd::comm
