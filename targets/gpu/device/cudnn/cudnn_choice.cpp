// A choice is an engine's number and knobs, as text.
#include "targets/gpu/device/cudnn/cudnn_choice.h"

#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "targets/gpu/device/driver/candidate_timing.h"

namespace sgd::cuda {
namespace {

using Timer = std::function<absl::StatusOr<absl::Duration>(const CudnnDescriptor&)>;

absl::StatusOr<std::string> Choose(const Cudnn& cudnn, const PlanRequest& request, const Timer* time) {
  absl::StatusOr<std::vector<EngineChoice>> proposals = ProposeEngines(cudnn, request.graph, request.limits);
  absl::Status why = proposals.status();
  std::optional<std::string> best;
  absl::Duration least = absl::InfiniteDuration();
  int timed = 0;
  for (const EngineChoice& choice : proposals.ok() ? *proposals : std::vector<EngineChoice>()) {
    absl::StatusOr<CudnnDescriptor> plan = PlanWith(cudnn, request.graph, choice, request.limits);
    if (!plan.ok()) {
      why.Update(plan.status());
      continue;
    }
    if (time == nullptr) return choice.Text();
    absl::StatusOr<absl::Duration> duration = (*time)(*plan);
    if (!duration.ok()) return duration.status();
    if (*duration < least) least = *duration, best = choice.Text();
    if (++timed == kTimedCandidates) break;
  }
  if (best) return *best;
  return absl::UnimplementedError(
      absl::StrCat("cuDNN ", cudnn.version(), " has no engine for this ", request.what,
                   " that gives the same bits every time in ", request.limits.workspace_bytes, " bytes of workspace",
                   why.ok() ? "" : absl::StrCat(" (", why.message(), ")"), "; ", request.advice));
}

}  // namespace

absl::StatusOr<CudnnDescriptor> ChoosePlan(const Cudnn& cudnn, const PlanRequest& request,
                                           device::AlgorithmChoices& choices, const Timer& time) {
  std::optional<CudnnDescriptor> plan;
  const auto use = [&](std::string_view text) {
    absl::StatusOr<EngineChoice> choice = EngineChoice::Parse(text);
    if (!choice.ok()) return choice.status();
    absl::StatusOr<CudnnDescriptor> made = PlanWith(cudnn, request.graph, *choice, request.limits);
    if (made.ok()) plan = *std::move(made);
    return made.status();
  };
  absl::Status status = choices.Use(
      request.key, use, [&] { return Choose(cudnn, request, choices.times_candidates() ? &time : nullptr); });
  if (!status.ok()) return status;
  return *std::move(plan);
}

}  // namespace sgd::cuda
