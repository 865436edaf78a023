// The training loop: feed, step, carry; then evaluation, reports and checkpoints where they are due.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "runtime/clock/steady_clock.h"
#include "runtime/comm/control/control.h"
#include "runtime/train/save_intervals.h"
#include "runtime/train/step_guard.h"
#include "runtime/train/step_runner.h"
#include "runtime/train/straggler_replacer.h"
#include "runtime/train/train_observer.h"
#include "runtime/watch/step_watch.h"
#include "runtime/watch/timed_agreements.h"

namespace sgd::train {

// Looks at the state between two steps and leaves it as it was. All ranks call it.
class StateEvaluator {
 public:
  virtual ~StateEvaluator() = default;
  virtual absl::StatusOr<EvalMeans> Evaluate() = 0;
};

// Keeps the state between two steps. All ranks call it.
class StateSaver {
 public:
  virtual ~StateSaver() = default;
  virtual absl::Status Save(uint64_t steps_done) = 0;
  // Receives the results of an evaluation of the state that is saved next.
  virtual void Evaluated(const EvalMeans& /*means*/) {}
  // How long steps have waited for the last save, on this rank.
  virtual absl::Duration stall() const { return absl::ZeroDuration(); }
  // Tells of saves that have ended by themselves, where some do. Waits for nobody.
  virtual void TellEnded() {}
  // Steps between saves, of a saver that decides how many; equal on all ranks.
  virtual std::optional<uint64_t> interval() const { return std::nullopt; }
  // Between two steps, before a save that is due.
  virtual absl::Status StepEnded(uint64_t /*steps_done*/) { return absl::OkStatus(); }
  // Returns when everything is where it belongs; the error of the last save.
  virtual absl::Status Finish() { return absl::OkStatus(); }
  // The state after `steps_done` steps may have been wrong: what is kept of it must not be gone on from. Returns what a
  // user should know; empty where nothing is kept.
  virtual std::string Doubt(uint64_t /*steps_done*/) { return ""; }
};

struct TrainLoopOptions {
  uint64_t first_step = 0;      // how many were done before
  uint64_t steps = 0;           // to do now
  uint64_t eval_every = 0;      // 0: never
  uint64_t save_every = 0;      // 0: after the last step only, or as `mtbf` says
  absl::Duration mtbf = {};     // mean time between failures of a rank; zero: unknown
  uint64_t snapshot_every = 0;  // steps between copies in memory; 0: where others are to go on alone
  bool has_unsaved = false;     // whether the state before the first step is on no disk
  bool writes_outputs = false;  // of the last step
  absl::Duration deadline = absl::Seconds(300);
};

// Collaborators of the loop; none is owned. Without an evaluator nothing is evaluated, without a saver nothing is
// saved, without an observer, as on all ranks but one, nothing is reported, without a guard nothing is checked. State
// is checked before it is saved or copied. `snapshots` keeps copies in memory, `weights` saves once, when the run ends.
struct TrainLoopParts {
  StepRunner& runner;
  comm::Control& control;
  StateEvaluator* evaluator = nullptr;
  StateSaver* saver = nullptr;
  StateSaver* snapshots = nullptr;
  StateSaver* weights = nullptr;
  TrainObserver* observer = nullptr;
  StepGuard* guard = nullptr;
  watch::StepWatch* watch = nullptr;               // null: nothing is measured
  StragglerReplacer* replacer = nullptr;           // null: stragglers are reported, but not replaced
  const watch::TimedAgreements* saving = nullptr;  // those that the saver waits in; null: unknown
};

// A device with streams gets a step while the one before it runs, which is reported then; but nothing runs while state
// is evaluated, saved or written. All ranks run the same loop.
class TrainLoop {
 public:
  TrainLoop(const TrainLoopParts& parts, const TrainLoopOptions& options)
      : parts_(parts), options_(options), intervals_(options.mtbf, options.first_step) {}

  // launch::Interrupted() when all ranks have stopped after the same step because Control::BeginStep said so; what is
  // due is saved then. Other errors are those of the parts.
  absl::Status Run();

 private:
  // Each returns the step to go on with: the next one, or an earlier one to which the guard has gone back.
  absl::StatusOr<uint64_t> Step(uint64_t step, bool is_last);
  absl::StatusOr<uint64_t> FinishStep(uint64_t step, bool is_last, const trace::StepRecord& record);
  absl::StatusOr<uint64_t> LeaveOut(uint64_t step, bool is_last);
  absl::StatusOr<uint64_t> CheckBeforeStop(uint64_t steps_done);
  absl::StatusOr<uint64_t> CheckAfter(uint64_t step, bool is_last);
  absl::Status ReportStepBefore();
  // `input`: how long the step waited for its inputs.
  absl::StatusOr<trace::StepRecord> End(uint64_t step, absl::Time begin, absl::Duration input);
  absl::Status Report(const trace::StepRecord& step, const EvalMeans* eval);
  bool ChecksAfter(uint64_t step, bool is_last) const;
  bool EvaluatesAfter(uint64_t step) const;
  bool SavesAfter(uint64_t step, bool is_last) const;
  bool CopiesAfter(uint64_t step) const;
  absl::Status Save(uint64_t steps_done);
  absl::Status SaveWeights(uint64_t steps_done);
  absl::Status AgreeOnKeptState();
  absl::Status Copy(uint64_t steps_done);
  absl::Status Stop(uint64_t steps_done);
  absl::Status StopForOthers(uint64_t steps_done);

  const TrainLoopParts parts_;
  const TrainLoopOptions options_;
  std::optional<uint64_t> last_saved_, last_copied_;  // steps done
  std::optional<uint64_t> in_flight_;                 // the step before, where it has not ended
  absl::Duration input_of_step_before_;               // where it is in flight
  absl::Time last_end_ = SteadyNow();
  SaveIntervals intervals_;  // with `mtbf`
};

}  // namespace sgd::train
