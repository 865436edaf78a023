// Steps one after the other; on devices with streams two are in flight.
#include "runtime/train/train_loop.h"

#include <algorithm>
#include <utility>

#include "runtime/clock/steady_clock.h"
#include "runtime/launch/interruption.h"

namespace sgd::train {

absl::Status TrainLoop::Run() {
  const uint64_t end = options_.first_step + options_.steps;
  for (uint64_t step = options_.first_step; step < end;) {
    absl::StatusOr<bool> goes_on = parts_.control.BeginStep(step, options_.deadline);
    if (!goes_on.ok()) return goes_on.status();
    absl::StatusOr<uint64_t> next = *goes_on ? Step(step, step + 1 == end) : CheckBeforeStop(step);
    if (!next.ok()) return next.status();
    if (!*goes_on && *next == step) return Stop(step);
    step = *next;
    if (parts_.saver != nullptr && step < end) parts_.saver->TellEnded();
  }
  // Ranks were lost after the last step, and with them what was to become of its state.
  if (options_.steps == 0 && options_.has_unsaved && parts_.saver != nullptr) {
    if (absl::Status status = Save(end); !status.ok()) return status;
  }
  if (absl::Status status = SaveWeights(end); !status.ok()) return status;
  const bool keeps_state = parts_.saver != nullptr || parts_.weights != nullptr;
  return keeps_state ? AgreeOnKeptState() : absl::OkStatus();
}

absl::StatusOr<uint64_t> TrainLoop::Step(uint64_t step, bool is_last) {
  if (parts_.guard != nullptr && parts_.guard->IsSkipped(step)) return LeaveOut(step, is_last);
  const absl::Time begin = SteadyNow();
  if (parts_.watch != nullptr) parts_.watch->FillsInputs();
  if (absl::Status status = parts_.runner.FillInputs(step); !status.ok()) return status;
  const absl::Duration input = SteadyNow() - begin;
  if (parts_.watch != nullptr) parts_.watch->InputsFilled(input);
  if (parts_.guard != nullptr) {
    if (absl::Status status = parts_.guard->BeforeStep(step); !status.ok()) return status;
  }
  const bool writes_outputs = is_last && options_.writes_outputs;
  if (absl::Status status = parts_.runner.Begin(step, /*carries=*/!writes_outputs); !status.ok()) return status;
  if (in_flight_) {
    if (absl::Status status = ReportStepBefore(); !status.ok()) return status;
  }
  if (parts_.runner.runs_ahead() && !is_last && !EvaluatesAfter(step) && !SavesAfter(step, is_last) &&
      !CopiesAfter(step) && !ChecksAfter(step, is_last)) {
    in_flight_ = step;
    input_of_step_before_ = input;
    absl::Status status = parts_.runner.CarryOutputs();
    if (!status.ok()) return status;
    return step + 1;
  }
  absl::StatusOr<trace::StepRecord> record = End(step, begin, input);
  if (!record.ok()) return record.status();
  if (writes_outputs) {
    if (absl::Status status = parts_.runner.WriteOutputs(); !status.ok()) return status;
  }
  if (absl::Status status = parts_.runner.CarryOutputs(); !status.ok()) return status;
  return FinishStep(step, is_last, *record);
}

// The step is reported even where its state is at fault, and where it can be before the check, which may end the job.
absl::StatusOr<uint64_t> TrainLoop::FinishStep(uint64_t step, bool is_last, const trace::StepRecord& record) {
  const bool evaluates = EvaluatesAfter(step);
  if (!evaluates) {
    if (absl::Status status = Report(record, nullptr); !status.ok()) return status;
  }
  absl::StatusOr<uint64_t> next = CheckAfter(step, is_last);
  const bool goes_on = next.ok() && *next == step + 1;
  std::optional<EvalMeans> eval;
  if (goes_on && evaluates) {
    parts_.runner.AllowDelay();
    absl::StatusOr<EvalMeans> means = parts_.evaluator->Evaluate();
    if (!means.ok()) return means.status();
    eval = *std::move(means);
    if (parts_.saver != nullptr) parts_.saver->Evaluated(*eval);
  }
  if (evaluates) {
    if (absl::Status status = Report(record, eval ? &*eval : nullptr); !status.ok()) return status;
  }
  if (next.ok() && parts_.snapshots != nullptr) {
    if (absl::Status status = parts_.snapshots->StepEnded(step + 1); !status.ok()) return status;
  }
  const bool writes_outputs = is_last && options_.writes_outputs;
  if (goes_on && CopiesAfter(step) && !writes_outputs) {
    if (absl::Status status = Copy(step + 1); !status.ok()) return status;
  }
  if (goes_on && SavesAfter(step, is_last)) {
    if (absl::Status status = Save(step + 1); !status.ok()) return status;
  }
  return next;
}

// Its place in the order of steps stays, with what is due behind it.
absl::StatusOr<uint64_t> TrainLoop::LeaveOut(uint64_t step, bool is_last) {
  absl::StatusOr<uint64_t> next = CheckAfter(step, is_last);
  if (next.ok() && *next == step + 1 && SavesAfter(step, is_last)) {
    if (absl::Status status = Save(step + 1); !status.ok()) return status;
  }
  return next;
}

absl::StatusOr<uint64_t> TrainLoop::CheckAfter(uint64_t step, bool is_last) {
  return ChecksAfter(step, is_last) ? parts_.guard->Check(step + 1) : step + 1;
}

absl::StatusOr<uint64_t> TrainLoop::CheckBeforeStop(uint64_t steps_done) {
  if (in_flight_) {
    if (absl::Status status = ReportStepBefore(); !status.ok()) return status;
  }
  return parts_.guard != nullptr ? parts_.guard->Check(steps_done) : steps_done;
}

absl::Status TrainLoop::ReportStepBefore() {
  absl::StatusOr<trace::StepRecord> record =
      End(*std::exchange(in_flight_, std::nullopt), last_end_, input_of_step_before_);
  return record.ok() ? Report(*record, nullptr) : record.status();
}

absl::StatusOr<trace::StepRecord> TrainLoop::End(uint64_t step, absl::Time begin, absl::Duration input) {
  if (absl::Status status = parts_.runner.End(); !status.ok()) return status;
  const absl::Duration duration = SteadyNow() - std::max(begin, last_end_);
  last_end_ = SteadyNow();
  if (parts_.watch != nullptr)
    parts_.watch->StepEnded(step, parts_.runner.timing().total, parts_.runner.timing().communication);
  StepScalars scalars = parts_.runner.ReadScalars();
  trace::StepRecord record{
      .step = step, .duration = duration, .input = input, .loss = scalars.loss, .outputs = std::move(scalars.outputs)};
  if (parts_.guard != nullptr) parts_.guard->StepEnded(record);
  return record;
}

absl::Status TrainLoop::Report(const trace::StepRecord& step, const EvalMeans* eval) {
  if (parts_.observer == nullptr) return absl::OkStatus();
  if (absl::Status status = parts_.observer->StepEnded(step, eval); !status.ok()) return status;
  if (parts_.watch == nullptr) return absl::OkStatus();
  for (watch::Straggler straggler : parts_.watch->FindStragglers()) {
    const bool is_news = parts_.replacer != nullptr ? parts_.replacer->Judge(straggler) : !straggler.has_lasted;
    if (!is_news) continue;
    absl::Status status = parts_.observer->StragglerFound(straggler, parts_.watch->places()[straggler.rank]);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

bool TrainLoop::ChecksAfter(uint64_t step, bool is_last) const {
  return parts_.guard != nullptr && (is_last || parts_.guard->IsDueAfter(step) || SavesAfter(step, is_last));
}

bool TrainLoop::EvaluatesAfter(uint64_t step) const {
  return parts_.evaluator != nullptr && options_.eval_every > 0 && (step + 1) % options_.eval_every == 0;
}

bool TrainLoop::SavesAfter(uint64_t step, bool is_last) const {
  if (parts_.saver == nullptr) return false;
  if (options_.mtbf != absl::ZeroDuration()) return is_last || intervals_.IsDue(step + 1);
  return is_last || (options_.save_every > 0 && (step + 1) % options_.save_every == 0);
}

bool TrainLoop::CopiesAfter(uint64_t step) const {
  if (parts_.snapshots == nullptr || options_.snapshot_every == 0) return false;
  const std::optional<uint64_t> interval = parts_.snapshots->interval();
  if (parts_.guard == nullptr && !interval) return (step + 1) % options_.snapshot_every == 0;
  const uint64_t since = last_copied_.value_or(options_.first_step);
  if (step + 1 < since + interval.value_or(options_.snapshot_every)) return false;
  // Only what has been checked is worth going on from.
  return parts_.guard == nullptr || parts_.guard->AllowsCopyAfter(step);
}

absl::Status TrainLoop::Copy(uint64_t steps_done) {
  absl::Status status = parts_.snapshots->Save(steps_done);
  if (status.ok()) last_copied_ = steps_done;
  return status;
}

absl::Status TrainLoop::Save(uint64_t steps_done) {
  parts_.runner.AllowDelay();
  const absl::Time begin = SteadyNow();
  const auto waited = [&] { return parts_.saving == nullptr ? absl::ZeroDuration() : parts_.saving->waited(); };
  const absl::Duration waited_before = waited();
  if (parts_.watch != nullptr) parts_.watch->Saves();
  absl::Status status = parts_.saver->Save(steps_done);
  if (!status.ok()) return status;
  if (parts_.watch != nullptr) parts_.watch->Saved(SteadyNow() - begin, waited() - waited_before);
  last_saved_ = steps_done;
  if (options_.mtbf == absl::ZeroDuration()) return absl::OkStatus();
  return intervals_.Saved(steps_done, parts_.saver->stall(), parts_.control, options_.deadline);
}

absl::Status TrainLoop::SaveWeights(uint64_t steps_done) {
  return parts_.weights == nullptr ? absl::OkStatus() : parts_.weights->Save(steps_done);
}

// Rank 0 comes when its checkpoint is in place. From then on, signals change nothing.
absl::Status TrainLoop::AgreeOnKeptState() {
  if (parts_.saver != nullptr) {
    if (absl::Status status = parts_.saver->Finish(); !status.ok()) return status;
  }
  if (absl::Status status = parts_.control.Barrier(options_.deadline); !status.ok()) return status;
  parts_.control.MarkStateKept();
  return absl::OkStatus();
}

// All ranks have done `steps_done` steps and the user wants them to stop.
absl::Status TrainLoop::Stop(uint64_t steps_done) {
  if (parts_.control.stop_signal() == launch::kGiveWaySignal) return StopForOthers(steps_done);
  const bool has_run = steps_done > options_.first_step || options_.has_unsaved;
  const bool saves = parts_.saver != nullptr && has_run;
  if (saves && last_saved_ != steps_done) {
    if (absl::Status status = Save(steps_done); !status.ok()) return status;
  }
  if (has_run) {
    if (absl::Status status = SaveWeights(steps_done); !status.ok()) return status;
  }
  if (absl::Status status = AgreeOnKeptState(); !status.ok()) return status;
  if (parts_.observer != nullptr) {
    parts_.observer->Stopped(
        {.signal = parts_.control.stop_signal(), .steps_done = steps_done, .has_run = has_run, .is_saved = saves});
  }
  return launch::Interrupted();
}

// Other ranks are to go on from what these leave in memory.
absl::Status TrainLoop::StopForOthers(uint64_t steps_done) {
  const bool has_run = steps_done > options_.first_step;
  if (has_run && parts_.snapshots != nullptr && last_copied_ != steps_done) {
    if (absl::Status status = Copy(steps_done); !status.ok()) return status;
  }
  if (parts_.replacer != nullptr) {
    if (absl::Status status = parts_.replacer->GiveWay(options_.deadline); !status.ok()) return status;
  }
  if (absl::Status status = AgreeOnKeptState(); !status.ok()) return status;
  return launch::Interrupted();
}

}  // namespace sgd::train
