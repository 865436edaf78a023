// The first rank's messages about training.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/clock/steady_clock.h"
#include "runtime/trace/json_log.h"
#include "runtime/trace/progress.h"
#include "runtime/train/train_observer.h"
#include "runtime/watch/job_status.h"
#include "runtime/watch/live_block.h"
#include "runtime/watch/metrics_publisher.h"
#include "runtime/watch/status_text.h"
#include "tools/sgdrun/options.h"
#include "tools/sgdrun/run_text.h"

namespace sgd::sgdrun {

// How --log-json treats an older file: a resumed run continues the log.
trace::LogStart LogStartOf(const Options& options);

class Reporter : public train::TrainObserver {
 public:
  // Begins the log of --log-json. `job` is borrowed.
  static absl::StatusOr<std::unique_ptr<Reporter>> Create(const Options& options, const train::Job& job);

  // Of ranks that go on where others have been lost: says so, also in the log.
  absl::Status Resumed(const Resumption& resumption, uint32_t ranks);
  // The last lines of a run, unless it was stopped for one that goes on in its place.
  void Summarize(const absl::Status& outcome);

  absl::Status Begun(const watch::JobFacts& facts, const watch::StepWatch& watch) override;
  void Ended() override;
  absl::Status StepEnded(const trace::StepRecord& step, const train::EvalMeans* eval) override;
  absl::Status Saved(const train::SaveRecord& save) override;
  absl::Status StragglerFound(const watch::Straggler& straggler, const watch::RankPlace& place) override;
  void Stopped(const train::StopRecord& stop) override;
  void Prepared() override;
  absl::Status Evaluated(uint64_t steps_done, const train::EvalMeans& means) override;
  absl::Status Event(const std::string& json) override { return log_ ? log_->WriteLine(json) : absl::OkStatus(); }
  void Note(const std::string& text) override;

 private:
  Reporter(const Options& options, const train::Job& job);
  void Show(const trace::StepRecord& step);
  void ShowEval(const std::string& when, const train::EvalMeans& means);
  // Beside the loss and the metrics: rates and what is left.
  std::string StepText(const trace::StepRecord& step);
  void Draw();
  // A line that stays.
  void Line(const std::string& text);
  // A message that stays, on standard error, or above the block or bar.
  void Message(const std::string& text);

  const train::Job& job_;
  const std::string save_;  // --save
  const std::string metrics_;
  const uint32_t metrics_port_;
  const bool live_, is_terminal_;  // the latter: standard output
  const bool is_resumption_;
  bool is_stopped_ = false;  // by its user
  trace::Progress progress_;
  std::optional<trace::JsonLog> log_;
  watch::JobFacts facts_;
  OutputColumns columns_;
  RunTotals totals_;
  absl::Time begin_ = SteadyNow();
  std::optional<watch::StatusKeeper> status_;
  std::optional<watch::LiveBlock> block_;  // with --live on a terminal, instead of progress_
  watch::LossHistory losses_;
  absl::Time drawn_ = absl::InfinitePast();
  std::unique_ptr<watch::MetricsPublisher> publisher_;
};

// As users see it.
std::string NoteText(const std::string& text);
// A line on standard error, which erases the block or bar that another process may show on the same terminal.
void PrintMessage(const std::string& text);
// The same for a note.
void PrintNote(const std::string& text);

}  // namespace sgd::sgdrun
