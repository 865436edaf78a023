// Several guards as one.
#pragma once

#include <vector>

#include "runtime/train/step_guard.h"

namespace sgd::train {

// Asks its guards in their order. Where one goes back to an earlier step, those behind it are not asked.
class StepGuards : public StepGuard {
 public:
  // Borrows them.
  explicit StepGuards(std::vector<StepGuard*> guards) : guards_(std::move(guards)) {}

  absl::Status BeforeStep(uint64_t step) override;
  void StepEnded(const trace::StepRecord& step) override;
  bool IsDueAfter(uint64_t step) const override;
  absl::StatusOr<uint64_t> Check(uint64_t steps_done) override;
  bool AllowsCopyAfter(uint64_t step) const override;
  bool IsSkipped(uint64_t step) const override;

 private:
  const std::vector<StepGuard*> guards_;
};

}  // namespace sgd::train
