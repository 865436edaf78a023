// All are checked when one is due: a check more changes nothing that steps compute.
#include "runtime/train/step_guards.h"

#include <algorithm>

namespace sgd::train {

absl::Status StepGuards::BeforeStep(uint64_t step) {
  for (StepGuard* guard : guards_) {
    if (absl::Status status = guard->BeforeStep(step); !status.ok()) return status;
  }
  return absl::OkStatus();
}

void StepGuards::StepEnded(const trace::StepRecord& step) {
  for (StepGuard* guard : guards_) guard->StepEnded(step);
}

bool StepGuards::IsDueAfter(uint64_t step) const {
  return std::ranges::any_of(guards_, [&](const StepGuard* guard) { return guard->IsDueAfter(step); });
}

absl::StatusOr<uint64_t> StepGuards::Check(uint64_t steps_done) {
  for (StepGuard* guard : guards_) {
    absl::StatusOr<uint64_t> next = guard->Check(steps_done);
    if (!next.ok() || *next != steps_done) return next;
  }
  return steps_done;
}

bool StepGuards::AllowsCopyAfter(uint64_t step) const {
  return std::ranges::all_of(guards_, [&](const StepGuard* guard) { return guard->AllowsCopyAfter(step); });
}

bool StepGuards::IsSkipped(uint64_t step) const {
  return std::ranges::any_of(guards_, [&](const StepGuard* guard) { return guard->IsSkipped(step); });
}

}  // namespace sgd::train
