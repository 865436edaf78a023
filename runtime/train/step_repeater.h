// Repeats steps from the state that a guard keeps, to tell a device that is at fault from data or a program that is.
#pragma once

#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/guard/non_finite_trace.h"
#include "runtime/guard/rank_report.h"
#include "runtime/train/guarded_state.h"
#include "runtime/train/step_judge.h"

namespace sgd::train {

// The point that a guard goes back to.
struct KeptPoint {
  uint64_t steps_done = 0;
  std::vector<guard::TensorSum> sums = {};  // of the state there
  std::vector<bool> is_exempt = {};         // by tensor: not finite from the start, so meant
  StepJudge judge;                          // as it was there
  std::set<uint64_t> skipped = {};          // steps after it that do not run
};

// All ranks call it alike; steps are deterministic, so all bits come out as they did unless a device is at fault.
class StepRepeater {
 public:
  StepRepeater(Session& session, GuardedState& state, const KeptPoint& point)
      : session_(session), state_(state), point_(point) {}

  // Makes the state what it was at the point. DataLoss where the copy has changed since.
  absl::Status GoBack();

  struct Outcome {
    guard::Alarm alarm;         // the first of this rank
    bool is_different = false;  // whether this rank's state has other sums than `first`
  };
  // Repeats all steps up to `steps_done`. `first` are this rank's sums after them the first time.
  absl::StatusOr<Outcome> Repeat(uint64_t steps_done, std::span<const guard::TensorSum> first);

  // Repeats the steps up to that of the alarm, and follows what is not finite through that one. A text for people,
  // without a subject, and the rank that it is about; empty on a device whose instructions cannot be looked at.
  struct Cause {
    uint32_t rank = 0;
    std::string text;
  };
  absl::StatusOr<Cause> FindCause(const guard::Alarm& alarm);

 private:
  absl::StatusOr<trace::StepRecord> RunStep(uint64_t step);
  std::string TextOfCause(const guard::Alarm& alarm, const guard::NonFiniteTrace& trace) const;

  Session& session_;
  GuardedState& state_;
  const KeptPoint& point_;
};

// The alarm of the first tensor that is not finite, unless it is exempt.
guard::Alarm JudgeSums(const GuardedState& state, std::span<const guard::TensorSum> sums,
                       const std::vector<bool>& is_exempt, uint64_t step);

}  // namespace sgd::train
