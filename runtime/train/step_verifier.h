// Compares the first steps of a training run with those of one rank: --verify.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "runtime/guard/first_difference.h"
#include "runtime/train/step_comparison.h"
#include "runtime/train/step_guard.h"
#include "runtime/train/train_observer.h"

namespace sgd::train {

// Each step starts on one rank from the state that all ranks had. A difference ends the job with OutOfRange, since the
// same would happen again, or is noted.
class StepVerifier : public StepGuard {
 public:
  // Borrows both; `observer` is null on ranks that tell nobody. The job has a verification. All ranks call it; rank 0
  // prepares the other plan.
  static absl::StatusOr<std::unique_ptr<StepVerifier>> Create(Session& session, TrainObserver* observer);

  absl::Status BeforeStep(uint64_t step) override;
  void StepEnded(const trace::StepRecord& step) override;
  bool IsDueAfter(uint64_t step) const override { return step < end_; }
  absl::StatusOr<uint64_t> Check(uint64_t steps_done) override;
  bool AllowsCopyAfter(uint64_t) const override { return true; }
  bool IsSkipped(uint64_t) const override { return false; }

 private:
  // The result that the ranks are told. Without a text they agree.
  struct Finding {
    uint32_t rank = 0;
    std::string text;
  };
  // Records of a step: of all ranks, and of draws of noise.
  struct Recorded {
    std::vector<guard::ValueRecords> plain;               // by rank
    std::vector<std::vector<guard::ValueRecords>> moved;  // by draw, then by rank
  };
  struct Located {
    StepComparison::Difference difference;
    std::optional<guard::DifferenceSource> source;
    int32_t stage = -1;
  };

  StepVerifier(Session& session, TrainObserver* observer);
  absl::Status Share();
  absl::Status Gather(const std::vector<checkpoint::LocalTensor>& tensors);
  absl::Status Compare(uint64_t step);
  absl::StatusOr<bool> AgreeOnDifference();
  absl::StatusOr<Recorded> Record(uint64_t step);
  absl::StatusOr<Finding> Locate(uint64_t step);
  absl::StatusOr<Located> FindFirst(const std::vector<StepComparison::Difference>& differences, const Recorded& many,
                                    const Recorded& one) const;
  absl::StatusOr<Finding> Tell(const Finding& finding) const;
  Finding FindingOf(uint64_t step, const std::vector<StepComparison::Difference>& differences,
                    const Located& located) const;
  absl::Status Log(uint64_t step, const StepComparison::Difference& difference, const Finding* finding);

  Session& session_;
  TrainObserver* const observer_;
  const uint64_t end_;  // the first step that is not compared
  const std::vector<VerifiedTensor> tensors_;
  StepReplay replay_;
  std::unique_ptr<StepComparison> comparison_;  // of rank 0
  std::optional<uint64_t> step_;                // the one to compare
  bool has_told_coarsest_ = false;
  uint64_t shares_ = 0;  // how often ranks have put tensors together
};

}  // namespace sgd::train
