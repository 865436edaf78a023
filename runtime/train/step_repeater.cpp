// Feeds decide by the step alone, so a repeated step sees the same data.
#include "runtime/train/step_repeater.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace sgd::train {

using guard::Alarm;
using guard::AlarmKind;
using guard::TensorSum;

Alarm JudgeSums(const GuardedState& state, std::span<const TensorSum> sums, const std::vector<bool>& is_exempt,
                uint64_t step) {
  for (size_t i = 0; i < sums.size(); ++i) {
    if (!sums[i].is_finite && !is_exempt[i])
      return {.kind = AlarmKind::kStateNotFinite, .step = step, .tensor = state.input(i)};
  }
  return {};
}

absl::Status StepRepeater::GoBack() {
  if (absl::Status status = state_.GoBack(); !status.ok()) return status;
  const std::vector<TensorSum> sums = state_.Sum();
  for (size_t i = 0; i < sums.size(); ++i) {
    if (sums[i] == point_.sums[i]) continue;
    return absl::DataLossError(absl::StrCat("guard: the copy of ", state_.name(i), " after ", point_.steps_done,
                                            " steps has changed: its memory is at fault"));
  }
  return absl::OkStatus();
}

absl::StatusOr<trace::StepRecord> StepRepeater::RunStep(uint64_t step) {
  if (absl::Status status = session_.FillInputs(step); !status.ok()) return status;
  if (absl::Status status = session_.Begin(step, /*carries=*/false); !status.ok()) return status;
  if (absl::Status status = session_.End(); !status.ok()) return status;
  StepScalars scalars = session_.ReadScalars();
  if (absl::Status status = session_.CarryOutputs(); !status.ok()) return status;
  return trace::StepRecord{
      .step = step, .duration = {}, .input = {}, .loss = scalars.loss, .outputs = std::move(scalars.outputs)};
}

absl::StatusOr<StepRepeater::Outcome> StepRepeater::Repeat(uint64_t steps_done, std::span<const TensorSum> first) {
  if (absl::Status status = GoBack(); !status.ok()) return status;
  StepJudge judge = point_.judge;
  Outcome outcome;
  std::vector<TensorSum> sums = point_.sums;
  for (uint64_t step = point_.steps_done; step < steps_done; ++step) {
    if (point_.skipped.contains(step)) continue;
    absl::StatusOr<trace::StepRecord> record = RunStep(step);
    if (!record.ok()) return record.status();
    sums = state_.Sum();
    const Alarm alarm = judge.Judge(*record);
    if (outcome.alarm.is_set()) continue;
    outcome.alarm = alarm.is_set() ? alarm : JudgeSums(state_, sums, point_.is_exempt, step);
  }
  outcome.is_different = !std::ranges::equal(sums, first);
  return outcome;
}

// The loss first, then the tensor of the alarm, then whatever is carried.
std::string StepRepeater::TextOfCause(const Alarm& alarm, const guard::NonFiniteTrace& trace) const {
  std::vector<size_t> outputs;
  if (session_.job().loss) outputs.push_back(*session_.job().loss);
  for (const bool is_of_alarm : {true, false}) {
    for (const auto& [output, input] : session_.job().carry) {
      if ((input == alarm.tensor) == is_of_alarm) outputs.push_back(output);
    }
  }
  for (size_t output : outputs) {
    if (const auto cause = trace.CauseOf(output)) return absl::StrCat(cause->is_of_peers ? "p" : "o", cause->text);
  }
  return "";
}

absl::StatusOr<StepRepeater::Cause> StepRepeater::FindCause(const Alarm& alarm) {
  if (session_.has_streams()) return Cause{};
  if (absl::Status status = GoBack(); !status.ok()) return status;
  for (uint64_t step = point_.steps_done; step < alarm.step; ++step) {
    if (point_.skipped.contains(step)) continue;
    if (absl::StatusOr<trace::StepRecord> record = RunStep(step); !record.ok()) return record.status();
  }
  if (absl::Status status = session_.FillInputs(alarm.step); !status.ok()) return status;
  guard::NonFiniteTrace trace(session_.job().file->root(), session_.executor());
  session_.ObserveNextStep(trace);
  if (absl::Status status = session_.Begin(alarm.step, /*carries=*/false); !status.ok()) return status;
  if (absl::Status status = session_.End(); !status.ok()) return status;
  absl::StatusOr<std::vector<std::string>> texts =
      session_.control().AllGatherBytes(TextOfCause(alarm, trace), session_.job().options.deadline);
  if (!texts.ok()) return texts.status();
  // A rank that has made it itself, before those to which it was sent.
  for (const char kind : {'o', 'p'}) {
    for (uint32_t rank = 0; rank < texts->size(); ++rank) {
      if ((*texts)[rank].starts_with(kind)) return Cause{rank, (*texts)[rank].substr(1)};
    }
  }
  return Cause{};
}

}  // namespace sgd::train
