// The training loop: feed, step, carry; then evaluation, reports and checkpoints where they are
// due.
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "runtime/artifact/container.h"
#include "runtime/checkpoint/checkpoint.h"
#include "runtime/launch/interruption.h"
#include "runtime/trace/json_log.h"
#include "runtime/trace/progress.h"
#include "tools/sgdrun/evaluator.h"
#include "tools/sgdrun/modes.h"
#include "tools/sgdrun/scalars.h"

namespace sgd::sgdrun {
namespace {

using EvalResults = std::vector<std::pair<std::string, double>>;

// What the first rank tells; the others have none.
class Reporter {
 public:
  static absl::StatusOr<std::unique_ptr<Reporter>> Create(const Job& job) {
    auto reporter = std::unique_ptr<Reporter>(new Reporter(job));
    if (job.options.log_json.empty()) return reporter;
    absl::StatusOr<trace::JsonLog> log = trace::JsonLog::Open(job.options.log_json);
    if (!log.ok()) return log.status();
    reporter->log_.emplace(*std::move(log));
    return reporter;
  }

  absl::Status Step(const trace::StepRecord& record, const std::optional<EvalResults>& eval) {
    progress_.Step(record.step, record.loss == nullptr ? "" : absl::StrCat("loss ", trace::ScalarText(*record.loss)));
    std::string json = trace::StepJson(record);
    if (eval) {
      std::string line = absl::StrCat("eval after step ", record.step);
      std::string fields;
      for (const auto& [name, mean] : *eval) {
        const std::string number = trace::NumberJson(mean);
        absl::StrAppend(&line, "  ", name, " ", number);
        absl::StrAppend(&fields, fields.empty() ? "" : ", ", trace::JsonString(name), ": ", number);
      }
      progress_.Line(line);
      json.pop_back();
      absl::StrAppend(&json, ", \"eval\": {", fields, "}}");
    }
    absl::Status status = log_ ? log_->WriteLine(json) : absl::OkStatus();
    status.Update(FlushResults());
    return status;
  }

 private:
  explicit Reporter(const Job& job)
      : progress_(stdout, isatty(STDOUT_FILENO) == 1, job.first_step, job.options.steps) {}

  trace::Progress progress_;
  std::optional<trace::JsonLog> log_;
};

class TrainLoop {
 public:
  explicit TrainLoop(Session& session) : session_(session), job_(session.job()) {}

  absl::Status Run() {
    if (job_.eval) evaluator_.emplace(session_);
    if (session_.is_first_rank()) {
      absl::StatusOr<std::unique_ptr<Reporter>> reporter = Reporter::Create(job_);
      if (!reporter.ok()) return reporter.status();
      reporter_ = *std::move(reporter);
    }
    const uint64_t end = job_.first_step + job_.options.steps;
    for (uint64_t step = job_.first_step; step < end; ++step) {
      absl::StatusOr<bool> goes_on = session_.control().BeginStep(step, job_.options.deadline);
      if (!goes_on.ok()) return goes_on.status();
      if (!*goes_on) return Stop(step);
      if (absl::Status status = Step(step, step + 1 == end); !status.ok()) return status;
    }
    return absl::OkStatus();
  }

 private:
  // What is told and done about a step that has ended.
  struct Ended {
    trace::StepRecord record;
    std::optional<trace::Scalar> loss;
  };

  // A device with queues gets a step while the one before it runs, which is reported then; but nothing runs while state
  // is evaluated, saved or written.
  absl::Status Step(uint64_t step, bool is_last) {
    const absl::Time begin = absl::Now();
    session_.FillInputs(step);
    const bool writes_outputs = is_last && !job_.options.outputs.empty();
    if (absl::Status status = session_.Begin(step, /*carries=*/!writes_outputs); !status.ok()) return status;
    if (under_way_) {
      if (absl::Status status = ReportStepBefore(); !status.ok()) return status;
    }
    if (session_.runs_ahead() && !is_last && !NeedsState(step)) {
      under_way_ = step;
      return session_.CarryOutputs();
    }
    absl::StatusOr<Ended> ended = End(step, begin);
    if (!ended.ok()) return ended.status();
    if (writes_outputs) {
      if (absl::Status status = session_.WriteOutputs(); !status.ok()) return status;
    }
    if (absl::Status status = session_.CarryOutputs(); !status.ok()) return status;

    std::optional<EvalResults> eval;
    if (EvaluatesAfter(step)) {
      absl::StatusOr<EvalResults> results = evaluator_->Evaluate();
      if (!results.ok()) return results.status();
      eval = *std::move(results);
    }
    if (absl::Status status = Report(*ended, eval); !status.ok()) return status;
    return SaveIfDue(step + 1, is_last);
  }

  absl::Status ReportStepBefore() {
    absl::StatusOr<Ended> ended = End(*std::exchange(under_way_, std::nullopt), last_end_);
    return ended.ok() ? Report(*ended, std::nullopt) : ended.status();
  }

  absl::StatusOr<Ended> End(uint64_t step, absl::Time begin) {
    if (absl::Status status = session_.End(); !status.ok()) return status;
    const absl::Duration duration = absl::Now() - std::max(begin, last_end_);
    last_end_ = absl::Now();
    Ended ended{.record = {.step = step, .duration = duration, .loss = nullptr, .outputs = {}}, .loss = {}};
    ended.record.outputs = ReadScalars(session_.executor(), job_.output_names);
    if (job_.loss) ended.loss = ReadOutput(session_.executor(), *job_.loss);
    return ended;
  }

  absl::Status Report(Ended& ended, const std::optional<EvalResults>& eval) {
    if (reporter_ == nullptr) return absl::OkStatus();
    if (ended.loss) ended.record.loss = &*ended.loss;
    return reporter_->Step(ended.record, eval);
  }

  bool EvaluatesAfter(uint64_t step) const { return evaluator_ && (step + 1) % job_.options.eval_every == 0; }
  bool NeedsState(uint64_t step) const {
    const Options& options = job_.options;
    return EvaluatesAfter(step) ||
           (!options.save.empty() && options.save_every > 0 && (step + 1) % options.save_every == 0);
  }

  absl::Status SaveIfDue(uint64_t steps_done, bool is_last) {
    const Options& options = job_.options;
    if (options.save.empty()) return absl::OkStatus();
    const bool is_due = is_last || (options.save_every > 0 && steps_done % options.save_every == 0);
    return is_due ? Save(steps_done) : absl::OkStatus();
  }

  // All ranks have done `steps_done` steps and the user wants them to stop.
  absl::Status Stop(uint64_t steps_done) {
    if (under_way_) {
      if (absl::Status status = ReportStepBefore(); !status.ok()) return status;
    }
    const bool has_state = steps_done > job_.first_step;
    const bool saves = !job_.options.save.empty() && has_state;
    if (saves && last_saved_ != steps_done) {
      if (absl::Status status = Save(steps_done); !status.ok()) return status;
    }
    if (session_.is_first_rank()) {
      const std::string kept = saves        ? absl::StrCat("; go on with --resume ", job_.options.save)
                               : !has_state ? ", before the first of this run"
                                            : "; nothing was saved, since there is no --save";
      std::fprintf(stderr, "sgdrun: stopped by %s after %llu steps%s\n",
                   launch::SignalText(session_.control().stop_signal()).c_str(),
                   static_cast<unsigned long long>(steps_done), kept.c_str());
    }
    return launch::Interrupted();
  }

  absl::Status Save(uint64_t steps_done) {
    const Options& options = job_.options;
    checkpoint::TrainingPoint point{.step = steps_done,
                                    .seed = job_.seed,
                                    .program = job_.program.name,
                                    .artifact_hash = artifact::HexHash(job_.file->hash()),
                                    .mesh = {},
                                    .feed = job_.feed_text,
                                    .carry = job_.carry_hash};
    const auto* mesh = job_.file->root().mesh();
    for (uint64_t i = 0; i < artifact::Size(mesh); ++i) {
      point.mesh.emplace_back(mesh->Get(i)->name()->str(), mesh->Get(i)->size());
    }
    absl::Status status = checkpoint::Save(options.save, point, session_.State(), session_.control(), options.deadline);
    if (!status.ok()) return status;
    last_saved_ = steps_done;
    if (options.keep == 0 || !session_.is_first_rank()) return absl::OkStatus();
    // The new one is complete. Old ones that stay are no reason to end.
    status = checkpoint::RemoveOlder(options.save, options.keep);
    if (!status.ok()) std::fprintf(stderr, "sgdrun: note: --keep: %s\n", std::string(status.message()).c_str());
    return absl::OkStatus();
  }

  Session& session_;
  const Job& job_;
  std::optional<Evaluator> evaluator_;
  std::unique_ptr<Reporter> reporter_;
  std::optional<uint64_t> last_saved_;  // steps done
  std::optional<uint64_t> under_way_;   // the step before, where it has not ended
  absl::Time last_end_ = absl::Now();
};

}  // namespace

absl::Status Train(Session& session) { return TrainLoop(session).Run(); }

}  // namespace sgd::sgdrun
