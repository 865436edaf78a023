// Progress on standard output, the log of steps, and messages on standard error.
#include "tools/sgdrun/reporter.h"

#include <unistd.h>

#include <cstdio>
#include <string>

#include "absl/strings/str_cat.h"
#include "runtime/artifact/short_message.h"
#include "runtime/clock/steady_clock.h"
#include "runtime/launch/interruption.h"
#include "runtime/trace/scalar.h"
#include "runtime/train/run_modes.h"
#include "runtime/watch/exposition.h"
#include "tools/sgdrun/modes.h"

namespace sgd::sgdrun {
namespace {

constexpr absl::Duration kBetweenDrawings = absl::Milliseconds(200);

}  // namespace

trace::LogStart LogStartOf(const Options& options) {
  const bool goes_on = options.resumption.has_value() || !options.run.resume.empty();
  return !goes_on ? trace::LogStart::kRefuse : trace::LogStart::kAppend;
}

absl::StatusOr<std::unique_ptr<Reporter>> Reporter::Create(const Options& options, uint64_t first_step) {
  auto reporter = std::unique_ptr<Reporter>(new Reporter(options, first_step));
  if (options.log_json.empty()) return reporter;
  absl::StatusOr<trace::JsonLog> log = trace::JsonLog::Open(options.log_json, LogStartOf(options));
  if (!log.ok()) return log.status();
  reporter->log_.emplace(*std::move(log));
  return reporter;
}

Reporter::Reporter(const Options& options, uint64_t first_step)
    : save_(options.run.save),
      metrics_(options.metrics),
      metrics_port_(options.metrics_port),
      live_(options.live),
      progress_(stdout, isatty(STDOUT_FILENO) == 1, first_step, options.run.steps, options.print_every) {}

absl::Status Reporter::Begun(const watch::JobFacts& facts, const watch::StepWatch& watch) {
  if (metrics_.empty() && metrics_port_ == 0 && !live_) return absl::OkStatus();
  status_.emplace(facts, &watch);
  if (live_ && isatty(STDOUT_FILENO) == 1) block_.emplace(stdout);
  if (metrics_.empty() && metrics_port_ == 0) return absl::OkStatus();
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
  if (!block_) {
    const bool is_rich = live_ && status_;
    progress_.Step(step.step, is_rich     ? watch::StatusLine(status_->Read())
                              : step.loss ? absl::StrCat("loss ", trace::ScalarText(*step.loss))
                                          : "");
    return;
  }
  losses_.Add(step.step + 1, loss);
  if (SteadyNow() - drawn_ >= kBetweenDrawings) Draw();
}

void Reporter::Draw() {
  drawn_ = SteadyNow();
  block_->Draw(watch::StatusLines(status_->Read(), losses_));
}

void Reporter::Line(const std::string& text) { block_ ? block_->Line(text) : progress_.Line(text); }

void Reporter::Ended() {
  if (block_) Draw();
  block_.reset();
  publisher_.reset();
  status_.reset();
}

absl::Status Reporter::StepEnded(const trace::StepRecord& step, const train::EvalMeans* eval) {
  Show(step);
  std::string json = trace::StepJson(step);
  if (eval != nullptr) {
    std::string line = absl::StrCat("eval after step ", step.step);
    std::string fields;
    for (const auto& [name, mean] : *eval) {
      const std::string number = trace::NumberJson(mean);
      absl::StrAppend(&line, "  ", name, " ", number);
      absl::StrAppend(&fields, fields.empty() ? "" : ", ", trace::JsonString(name), ": ", number);
    }
    Line(line);
    json.pop_back();
    absl::StrAppend(&json, ", \"eval\": {", fields, "}}");
  }
  absl::Status status = log_ ? log_->WriteLine(json) : absl::OkStatus();
  status.Update(FlushResults());
  return status;
}

absl::Status Reporter::Resumed(const Resumption& resumption, uint32_t ranks) {
  if (!log_) return absl::OkStatus();
  return log_->WriteLine(trace::ResumedJson(resumption.step, ranks, SteadyNow() - resumption.lost_at,
                                            resumption.is_from_memory ? "peer" : "checkpoint"));
}

absl::Status Reporter::Saved(const train::SaveRecord& save) {
  return log_ ? log_->WriteLine(trace::SavedJson(save.steps_done, save.stall, save.duration, save.cpu, save.bytes))
              : absl::OkStatus();
}

absl::Status Reporter::StragglerFound(const watch::Straggler& straggler, const watch::RankPlace& place) {
  if (status_ && !straggler.has_lasted) status_->StragglerFound();
  Note(watch::StragglerText(straggler, place));
  return log_ ? log_->WriteLine(watch::StragglerJson(straggler, place)) : absl::OkStatus();
}

void Reporter::Stopped(const train::StopRecord& stop) {
  const std::string kept = stop.is_saved  ? absl::StrCat("; go on with --resume ", save_)
                           : stop.has_run ? "; nothing was saved, since there is no --save"
                                          : ", before the first of this run";
  std::fprintf(stderr, "sgdrun: stopped by %s after %llu steps%s\n", launch::SignalText(stop.signal).c_str(),
               static_cast<unsigned long long>(stop.steps_done), kept.c_str());
}

void Reporter::Note(const std::string& text) {
  if (block_ && isatty(STDERR_FILENO) == 1) return block_->Line(NoteText(text));
  PrintNote(text);
}

std::string NoteText(const std::string& text) {
  return absl::StrCat("sgdrun: note: ", std::string(artifact::ShortMessage(text)));
}

void PrintNote(const std::string& text) { std::fprintf(stderr, "%s\n", NoteText(text).c_str()); }

absl::Status TrainAndPrint(const Options& options, train::Session& session) {
  if (!session.is_first_rank()) return train::Train(session, nullptr);
  absl::StatusOr<std::unique_ptr<Reporter>> reporter = Reporter::Create(options, session.job().first_step);
  if (!reporter.ok()) return reporter.status();
  if (options.resumption) {
    absl::Status status = (*reporter)->Resumed(*options.resumption, session.control().size());
    if (!status.ok()) return status;
  }
  return train::Train(session, reporter->get());
}

}  // namespace sgd::sgdrun
