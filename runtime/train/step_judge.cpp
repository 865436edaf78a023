// Finds the scalars by the names under which they are logged.
#include "runtime/train/step_judge.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "runtime/artifact/element_type.h"

namespace sgd::train {
namespace {

using guard::Alarm;
using guard::AlarmKind;

constexpr char kGradientNorm[] = "grad_norm";

// The scalar output whose path ends with grad_norm.
std::optional<size_t> FindGradientNorm(const ProgramView& program) {
  for (size_t i = 0; i < program.outputs.size(); ++i) {
    const data::TensorType& type = program.outputs[i].type;
    const std::string name = ShortName(program.outputs[i].name);
    const bool is_named = name == kGradientNorm || name.ends_with(absl::StrCat("/", kGradientNorm));
    if (is_named && type.global_dims.empty() && artifact::IsFloat(type.element)) return i;
  }
  return std::nullopt;
}

const trace::Scalar* Find(const trace::StepRecord& step, const std::optional<std::string>& name) {
  const auto found = std::ranges::find_if(step.outputs, [&](const auto& output) { return output.first == name; });
  return found == step.outputs.end() ? nullptr : &found->second;
}

}  // namespace

absl::Status CheckGuardLimits(const Job& job) {
  const GuardOptions& options = job.options.guard;
  if (options.gradient_norm > 0 && !FindGradientNorm(job.program)) {
    return absl::InvalidArgumentError(
        absl::StrCat(job.options.artifact, ": program '", job.program.name,
                     "' has no floating-point scalar output grad_norm, which --guard-grad-norm limits; return one"));
  }
  if (options.loss_factor > 0 && !job.loss) {
    return absl::InvalidArgumentError(absl::StrCat(job.options.artifact, ": program '", job.program.name,
                                                   "' has no known loss, which --guard-loss limits; say which output "
                                                   "it is with --loss"));
  }
  return absl::OkStatus();
}

StepJudge::StepJudge(const Job& job) : options_(job.options.guard) {
  if (job.program.commit) commit_ = job.output_names[*job.program.commit];
  const std::optional<size_t> norm = FindGradientNorm(job.program);
  if (norm && options_.gradient_norm > 0) gradient_norm_ = job.output_names[*norm];
}

Alarm StepJudge::Judge(const trace::StepRecord& step) {
  const trace::Scalar* commit = Find(step, commit_);
  if (commit != nullptr && commit->integer == 0) return {};
  if (step.loss) {
    const double loss = trace::AsDouble(*step.loss);
    if (!std::isfinite(loss)) return {.kind = AlarmKind::kLossNotFinite, .step = step.step, .value = loss};
    if (options_.loss_factor > 0 && losses_.IsAbove(loss, options_.loss_factor)) {
      return {.kind = AlarmKind::kLossLimit,
              .step = step.step,
              .value = loss,
              .limit = options_.loss_factor * *losses_.median()};
    }
  }
  if (const trace::Scalar* norm = Find(step, gradient_norm_)) {
    const double value = trace::AsDouble(*norm);
    if (!(value <= options_.gradient_norm)) {
      return {
          .kind = AlarmKind::kGradientNormLimit, .step = step.step, .value = value, .limit = options_.gradient_norm};
    }
  }
  if (step.loss) losses_.Add(trace::AsDouble(*step.loss));
  return {};
}

std::string AlarmText(const Alarm& alarm, const std::string& tensor) {
  switch (alarm.kind) {
    case AlarmKind::kLossNotFinite:
      return absl::StrCat("the loss of step ", alarm.step, " is ", alarm.value);
    case AlarmKind::kStateNotFinite:
      return absl::StrCat(tensor, " is not finite after step ", alarm.step);
    case AlarmKind::kLossLimit:
      return absl::StrCat("the loss of step ", alarm.step, " is ", alarm.value, ", above the limit ", alarm.limit,
                          " (--guard-loss)");
    case AlarmKind::kGradientNormLimit:
      return absl::StrCat("grad_norm of step ", alarm.step, " is ", alarm.value, ", above the limit ", alarm.limit,
                          " (--guard-grad-norm)");
    case AlarmKind::kNone:
      break;
  }
  return "nothing";
}

}  // namespace sgd::train
