// Watches the state and the results of a training run: replicas that differ, bytes that change between steps, values
// that are not finite, and limits.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "runtime/train/step_guard.h"
#include "runtime/train/step_repeater.h"
#include "runtime/train/train_observer.h"

namespace sgd::train {

class StateSaver;

// Errors name the rank and the tensor. DataLoss: a device or its memory is at fault, so the job should begin again
// from a checkpoint without it. OutOfRange: the data or the program is, and the same would happen again.
class TrainingGuard : public StepGuard, private exec::InstructionObserver {
 public:
  // Borrows all; `observer` is null on ranks that tell nobody, and `saver` where nothing is saved. The job's guard is
  // on.
  TrainingGuard(Session& session, TrainObserver* observer, StateSaver* saver = nullptr);

  absl::Status BeforeStep(uint64_t step) override;
  void StepEnded(const trace::StepRecord& step) override;
  bool IsDueAfter(uint64_t step) const override { return (step + 1) % options_.every == 0; }
  absl::StatusOr<uint64_t> Check(uint64_t steps_done) override;
  bool IsSkipped(uint64_t step) const override { return point_.skipped.contains(step); }

 private:
  // The finding that ends the run. `rank` returns it as its error.
  struct Finding {
    absl::StatusCode code = absl::StatusCode::kDataLoss;
    uint32_t rank = 0;
    std::vector<std::string> tensors;  // the first is the one at fault; may be empty
    uint64_t step = 0;
    std::string cause;  // one word, for logs
    std::string text;
  };

  // Of the step behind a check: compares a tensor as late as its bytes are those that were checked.
  void Before(uint64_t instruction) override;
  void After(uint64_t) override {}
  void CompareOnce(size_t tensor);
  void CompareAll();
  void AskToStop();
  absl::StatusOr<std::vector<guard::RankReport>> Gather(const guard::RankReport& report) const;
  absl::Status Start(uint64_t steps_done);
  absl::Status Keep(uint64_t steps_done, const std::vector<guard::TensorSum>& sums);
  absl::Status CheckReplicas(uint64_t steps_done, const std::vector<guard::TensorSum>& sums,
                             std::span<const guard::RankReport> reports);
  absl::Status NameReplica(uint64_t steps_done, const std::vector<guard::TensorSum>& sums,
                           const std::vector<size_t>& tensors, const guard::Difference& difference);
  absl::StatusOr<uint64_t> HandleAlarm(uint64_t steps_done, const std::vector<guard::TensorSum>& sums,
                                       const guard::FirstAlarm& first);
  absl::StatusOr<uint64_t> BlameData(const guard::FirstAlarm& first);
  absl::StatusOr<uint64_t> Skip(const Finding& finding);
  absl::Status End(const Finding& finding) const;
  absl::Status Tell(const Finding& finding, bool goes_on) const;
  std::string NameOf(uint64_t input) const;
  std::vector<std::string> TensorsOf(const guard::Alarm& alarm) const;
  std::string TextOf(const guard::Alarm& alarm) const;

  Session& session_;
  TrainObserver* const observer_;
  StateSaver* const saver_;
  const GuardOptions options_;
  GuardedState state_;
  StepJudge judge_;
  KeptPoint point_;
  guard::Alarm alarm_;             // the first of this rank since the point
  guard::Change change_;           // likewise
  bool is_at_point_ = false;       // whether no step has run since the point
  std::vector<bool> is_compared_;  // by tensor, of the step behind it
  std::optional<uint64_t> last_skipped_;
  uint64_t skipped_in_turn_ = 0;
  bool asks_to_stop_ = false;
};

}  // namespace sgd::train
