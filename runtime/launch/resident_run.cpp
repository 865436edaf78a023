// Both clocks start when the thread that waits first sees their cause.
#include "runtime/launch/resident_run.h"

#include <algorithm>
#include <string>

#include "absl/strings/str_cat.h"
#include "runtime/clock/steady_clock.h"
#include "runtime/comm/control/rank_text.h"
#include "runtime/launch/interruption.h"

namespace sgd::launch {

absl::Status BeginRun(comm::SharedMemorySegment& segment) {
  if (const absl::Status cause = segment.abort_cause(); !cause.ok())
    return absl::FailedPreconditionError(absl::StrCat("the job has ended: ", cause.message(), "; open a new one"));
  // Until they return, which others may then hear of while they wait: see Control::Finish.
  for (uint32_t rank = 0; rank < segment.ranks(); ++rank) segment.flag(rank).state.store(comm::RankState::kJoined);
  return absl::OkStatus();
}

void RunLimits::BeginDeadline() {
  late_ = SteadyNow() + deadline_;
  begins_early_ = true;
}

bool RunLimits::ShouldWait(const RunOutcomes& outcomes) {
  const auto has_returned = [](const std::optional<absl::Status>& outcome) { return outcome.has_value(); };
  const auto missing = std::ranges::find_if_not(outcomes, has_returned);
  if (missing == outcomes.end()) return false;
  const absl::Time now = SteadyNow();
  if (!late_ && std::ranges::any_of(outcomes, has_returned)) late_ = now + deadline_;
  if (late_ && now >= *late_ && !segment_.aborted()) {
    segment_.Abort(static_cast<uint32_t>(missing - outcomes.begin()),
                   absl::DeadlineExceededError(absl::StrCat("did not return within ", absl::FormatDuration(deadline_),
                                                            begins_early_ ? "" : " of the first rank that did")));
  }
  if (!lost_ && segment_.aborted()) lost_ = now + grace_;
  return !lost_ || now < *lost_;
}

absl::Status LostError(uint32_t rank, absl::Duration grace) {
  return absl::DeadlineExceededError(
      absl::StrCat("rank ", rank, ": did not return within ", absl::FormatDuration(grace), " of the job's end"));
}

absl::Status OutcomeOfRun(const comm::SharedMemorySegment& segment, const std::vector<absl::Status>& outcomes) {
  if (const absl::Status cause = segment.abort_cause(); !cause.ok()) return cause;
  for (uint32_t rank = 0; rank < outcomes.size(); ++rank) {
    const absl::Status& outcome = outcomes[rank];
    if (IsInterrupted(outcome)) return outcome;
    // The cause is being written.
    if (!outcome.ok()) return absl::Status(outcome.code(), comm::OfRank(rank, std::string(outcome.message())));
  }
  return absl::OkStatus();
}

}  // namespace sgd::launch
