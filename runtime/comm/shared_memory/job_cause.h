// The cause of a job's end, printed by one of the ranks that were started one by one on a host.
#pragma once

#include <cstdint>

#include "absl/status/status.h"
#include "runtime/comm/shared_memory/shared_memory_segment.h"

namespace sgd::comm {

// The message of rank `rank` where rank `speaker` prints the cause.
absl::Status SaidBy(uint32_t speaker, uint32_t rank, const absl::Status& cause);

// The message that rank `rank`, whose error is `own`, is to print once the job is aborted: the job's first cause, if
// this is the first rank that asks; for all others, which rank prints it.
absl::Status JobCause(SharedMemorySegment& segment, uint32_t rank, const absl::Status& own);

// The same of an error that need not follow from the job's first cause: where that does not contain it, `own` with the
// rank's name.
absl::Status JobCauseOrOwn(SharedMemorySegment& segment, uint32_t rank, const absl::Status& own);

}  // namespace sgd::comm
