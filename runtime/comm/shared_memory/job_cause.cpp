// The segment knows which rank asked first.
#include "runtime/comm/shared_memory/job_cause.h"

#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "runtime/clock/steady_clock.h"
#include "runtime/comm/control/rank_text.h"

namespace sgd::comm {
namespace {

constexpr absl::Duration kWriting = absl::Milliseconds(100);  // of a cause, by another rank, which may die meanwhile

absl::Status Named(uint32_t rank, const absl::Status& status) {
  return absl::Status(status.code(), OfRank(rank, std::string(status.message())));
}

absl::Status Cause(SharedMemorySegment& segment, uint32_t rank, const absl::Status& own) {
  for (const absl::Time end = SteadyNow() + kWriting; !segment.aborted() && SteadyNow() < end;)
    absl::SleepFor(absl::Milliseconds(1));
  return segment.aborted() ? segment.abort_cause() : Named(rank, own);
}

}  // namespace

absl::Status SaidBy(uint32_t speaker, uint32_t rank, const absl::Status& cause) {
  return absl::Status(cause.code(), absl::StrCat("rank ", rank, ": ended with the job; rank ", speaker, " says why"));
}

absl::Status JobCause(SharedMemorySegment& segment, uint32_t rank, const absl::Status& own) {
  const absl::Status cause = Cause(segment, rank, own);
  const uint32_t speaker = segment.ClaimCause(rank);
  return speaker == rank ? cause : SaidBy(speaker, rank, cause);
}

absl::Status JobCauseOrOwn(SharedMemorySegment& segment, uint32_t rank, const absl::Status& own) {
  const bool is_cause = absl::StrContains(Cause(segment, rank, own).message(), own.message());
  return is_cause ? JobCause(segment, rank, own) : Named(rank, own);
}

}  // namespace sgd::comm
