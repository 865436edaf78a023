// The cause of a job's end, printed by one of the ranks that were started one by one.
#pragma once

#include <cstdint>

#include "absl/status/status.h"
#include "runtime/comm/shared_memory_segment.h"

namespace sgd::launch {

// The message that rank `rank` is to print: the job's first cause, if this is the first rank that asks; for all others,
// which rank prints it. The job must have been aborted.
absl::Status JobCause(comm::SharedMemorySegment& segment, uint32_t rank);

}  // namespace sgd::launch
