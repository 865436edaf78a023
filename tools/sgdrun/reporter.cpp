// Progress on standard output, the log of steps, and messages on standard error.
#include "tools/sgdrun/reporter.h"

#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "runtime/artifact/short_message.h"
#include "runtime/checkpoint/checkpoint_paths.h"
#include "runtime/clock/steady_clock.h"
#include "runtime/launch/interruption.h"
#include "runtime/text/amounts.h"
#include "runtime/trace/scalar.h"
#include "runtime/trace/step_line.h"
#include "runtime/train/run_modes.h"
#include "runtime/watch/exposition.h"
#include "tools/sgdrun/modes.h"

namespace sgd::sgdrun {
namespace {

constexpr absl::Duration kBetweenDrawings = absl::Milliseconds(200);
constexpr double kLeastLeft = 1;  // seconds that are worth a word

}  // namespace

trace::LogStart LogStartOf(const Options& options) {
  const bool goes_on = options.resumption.has_value() || !options.run.resume.empty();
  return !goes_on ? trace::LogStart::kRefuse : trace::LogStart::kAppend;
}

absl::StatusOr<std::unique_ptr<Reporter>> Reporter::Create(const Options& options, const train::Job& job) {
  auto reporter = std::unique_ptr<Reporter>(new Reporter(options, job));
  if (options.log_json.empty() || options.run.only_prepares) return reporter;
  absl::StatusOr<trace::JsonLog> log = trace::JsonLog::Open(options.log_json, LogStartOf(options));
  if (!log.ok()) return log.status();
  reporter->log_.emplace(*std::move(log));
  return reporter;
}

Reporter::Reporter(const Options& options, const train::Job& job)
    : job_(job),
      save_(options.run.save),
      metrics_(options.metrics),
      metrics_port_(options.metrics_port),
      live_(options.live),
      is_terminal_(isatty(STDOUT_FILENO) == 1),
      is_resumption_(options.resumption.has_value()),
      progress_(stdout, is_terminal_, job.first_step, options.run.steps, options.print_every),
      columns_(job) {}

absl::Status Reporter::Begun(const watch::JobFacts& facts, const watch::StepWatch& watch) {
  facts_ = facts;
  begin_ = SteadyNow();
  const bool is_published = !metrics_.empty() || metrics_port_ != 0;
  // Reading what ranks say of themselves takes longer than a line is worth.
  status_.emplace(facts, live_ || is_published ? &watch : nullptr);
  if (!is_resumption_) {
    for (const std::string& line : HeaderLines(job_, facts)) Line(line);
  }
  const bool has_steps = !job_.options.only_prepares && !job_.options.only_evaluates;
  if (live_ && is_terminal_ && has_steps) block_.emplace(stdout, watch::Cursor::kAbove);
  if (!is_published || !has_steps) return FlushProgress();
  absl::StatusOr<std::unique_ptr<watch::MetricsPublisher>> publisher =
      watch::MetricsPublisher::Start({.file = metrics_,
                                      .port = metrics_port_,
                                      .text = [this] { return watch::ExpositionText(status_->Read()); },
                                      .note = PrintNote});
  if (!publisher.ok()) return publisher.status();
  publisher_ = *std::move(publisher);
  return absl::OkStatus();
}

void Reporter::Show(const trace::StepRecord& step) {
  const std::optional<double> loss = step.loss ? std::optional(trace::AsDouble(*step.loss)) : std::nullopt;
  if (status_) status_->StepEnded(step.step, step.duration, loss);
  if (loss) totals_.last_loss = loss;
  if (loss && std::isfinite(*loss) && (!totals_.best_loss || *loss < totals_.best_loss->first))
    totals_.best_loss = {*loss, step.step};
  if (!block_) return progress_.Step(step.step, progress_.Shows(step.step) ? StepText(step) : "");
  losses_.Add(step.step + 1, loss);
  if (SteadyNow() - drawn_ >= kBetweenDrawings) Draw();
}

// A bar has the time that is left.
std::string Reporter::StepText(const trace::StepRecord& step) {
  if (!status_) return columns_.Text(step);
  const watch::JobStatus status = status_->Read();
  if (live_) return watch::StatusLine(status);
  std::string text = columns_.Text(step);
  const auto add = [&](const std::string& part) {
    if (!part.empty()) absl::StrAppend(&text, text.empty() ? "" : "  ", part);
  };
  add(watch::RatesText(status));
  const double left = status.median_seconds.value_or(0) * static_cast<double>(status.steps_planned - status.steps_done);
  if (!is_terminal_ && left >= kLeastLeft) add(watch::LeftText(status));
  return std::string(absl::StripTrailingAsciiWhitespace(text));
}

void Reporter::Draw() {
  drawn_ = SteadyNow();
  block_->Draw(watch::StatusLines(status_->Read(), losses_));
}

void Reporter::Line(const std::string& text) { block_ ? block_->Line(text) : progress_.Line(text); }

void Reporter::Message(const std::string& text) {
  if (isatty(STDERR_FILENO) == 1 && is_terminal_) return Line(text);
  std::fprintf(stderr, "%s\n", text.c_str());
}

void Reporter::Ended() {
  totals_.wall = SteadyNow() - begin_;
  if (status_) totals_.status = status_->Read();
  if (block_) Draw();
  block_.reset();
  progress_.End();
  publisher_.reset();
  status_.reset();
}

absl::Status Reporter::StepEnded(const trace::StepRecord& step, const train::EvalMeans* eval) {
  Show(step);
  if (eval != nullptr) ShowEval(absl::StrCat("eval after step ", step.step), *eval);
  absl::Status status = log_ ? log_->WriteLine(trace::StepLine(step, eval, columns_.Json(step))) : absl::OkStatus();
  status.Update(FlushProgress());
  return status;
}

void Reporter::ShowEval(const std::string& when, const train::EvalMeans& means) {
  std::string line = when;
  for (const auto& [name, mean] : means) absl::StrAppend(&line, "  ", name, " ", trace::NumberJson(mean));
  Line(line);
}

absl::Status Reporter::Evaluated(uint64_t steps_done, const train::EvalMeans& means) {
  ShowEval(steps_done == 0 ? "eval of the initial state" : absl::StrCat("eval after ", steps_done, " steps"), means);
  absl::Status status = log_ ? log_->WriteLine(absl::StrCat("{\"event\": \"evaluated\", \"step\": ", steps_done,
                                                            ", \"eval\": ", trace::MeansJson(means), "}"))
                             : absl::OkStatus();
  status.Update(FlushProgress());
  return status;
}

void Reporter::Prepared() {
  Line(
      "prepared    every input has a value, and what a run would write can be written; --steps 0 trains nothing and "
      "writes nothing");
}

void Reporter::Summarize(const absl::Status& outcome) {
  if (!outcome.ok() && !is_stopped_) return;
  totals_.has_ended = outcome.ok();
  for (const std::string& line : SummaryLines(job_, facts_, totals_)) Line(line);
}

absl::Status Reporter::Resumed(const Resumption& resumption, uint32_t ranks) {
  Line(absl::StrCat("resumed at step ", resumption.step, " on ", ranks, ranks == 1 ? " rank" : " ranks", " from ",
                    resumption.is_from_memory   ? "memory"
                    : job_.resumed_from.empty() ? "the start"
                                                : job_.resumed_from,
                    ", ", text::SecondsText(absl::ToDoubleSeconds(SteadyNow() - resumption.lost_at)),
                    " after the ranks before ended"));
  if (!log_) return absl::OkStatus();
  return log_->WriteLine(trace::ResumedJson(resumption.step, ranks, SteadyNow() - resumption.lost_at,
                                            resumption.is_from_memory ? "peer" : "checkpoint"));
}

absl::Status Reporter::Saved(const train::SaveRecord& save) {
  Line(absl::StrCat("saved step ", save.steps_done, " to ", checkpoint::CheckpointPath(save_, save.steps_done), ", ",
                    text::BytesText(save.bytes), " in ", text::SecondsText(absl::ToDoubleSeconds(save.duration))));
  if (!log_) return absl::OkStatus();
  return log_->WriteLine(
      trace::SavedJson(save.steps_done, save.stall, save.duration, save.cpu, save.bytes, save.bytes_on_disk));
}

absl::Status Reporter::StragglerFound(const watch::Straggler& straggler, const watch::RankPlace& place) {
  if (status_ && !straggler.has_lasted) status_->StragglerFound();
  Note(watch::StragglerText(straggler, place));
  return log_ ? log_->WriteLine(watch::StragglerJson(straggler, place)) : absl::OkStatus();
}

void Reporter::Stopped(const train::StopRecord& stop) {
  is_stopped_ = true;
  const std::string kept = stop.is_saved  ? absl::StrCat("; go on with --resume ", save_)
                           : stop.has_run ? "; nothing was saved, since there is no --save"
                                          : ", before the first of this run";
  Message(
      absl::StrCat("sgdrun: stopped by ", launch::SignalText(stop.signal), " after ", stop.steps_done, " steps", kept));
}

void Reporter::Note(const std::string& text) { Message(NoteText(text)); }

std::string NoteText(const std::string& text) {
  return absl::StrCat("sgdrun: note: ", std::string(artifact::ShortMessage(text)));
}

void PrintMessage(const std::string& text) {
  const bool may_show_block = isatty(STDERR_FILENO) == 1 && isatty(STDOUT_FILENO) == 1;
  std::fprintf(stderr, "%s%s\n", may_show_block ? watch::kOverLiveBlock : "", text.c_str());
}

void PrintNote(const std::string& text) { PrintMessage(NoteText(text)); }

absl::Status TrainAndPrint(const Options& options, train::Session& session) {
  if (!session.is_first_rank()) return train::Train(session, nullptr);
  absl::StatusOr<std::unique_ptr<Reporter>> reporter = Reporter::Create(options, session.job());
  if (!reporter.ok()) return reporter.status();
  if (options.resumption) {
    absl::Status status = (*reporter)->Resumed(*options.resumption, session.control().size());
    if (!status.ok()) return status;
  }
  const absl::Status status = train::Train(session, reporter->get());
  (*reporter)->Summarize(status);
  return status;
}

}  // namespace sgd::sgdrun
