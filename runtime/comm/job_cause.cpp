// The segment knows who asked first.
#include "runtime/launch/job_cause.h"

#include "absl/strings/str_cat.h"

namespace sgd::launch {

absl::Status JobCause(comm::SharedMemorySegment& segment, uint32_t rank) {
  const absl::Status cause = segment.abort_cause();
  const uint32_t speaker = segment.ClaimCause(rank);
  if (speaker == rank) return cause;
  return absl::Status(cause.code(), absl::StrCat("rank ", rank, ": ended with the job; rank ", speaker, " says why"));
}

}  // namespace sgd::launch
