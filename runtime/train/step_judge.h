// Tells by its scalar results whether a step is at fault.
#pragma once

#include <optional>
#include <string>

#include "absl/status/status.h"
#include "runtime/guard/loss_history.h"
#include "runtime/guard/rank_report.h"
#include "runtime/trace/json_log.h"
#include "runtime/train/job.h"

namespace sgd::train {

// InvalidArgument where a limit is on a result that the program has not.
absl::Status CheckGuardLimits(const Job& job);

// A step that is not committed is never at fault: its results count for nothing.
class StepJudge {
 public:
  explicit StepJudge(const Job& job);

  // Remembers the losses of steps that are not at fault.
  guard::Alarm Judge(const trace::StepRecord& step);

 private:
  GuardOptions options_;
  std::optional<std::string> commit_, gradient_norm_;  // as StepRecord::outputs has them
  guard::LossHistory losses_;
};

// "loss is nan in step 41", without the cause.
std::string AlarmText(const guard::Alarm& alarm, const std::string& tensor);

}  // namespace sgd::train
