// Copies in memory outlive ranks since the process that starts them has made them.
#include "tools/sgdrun/restarts.h"

#include <signal.h>

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "runtime/clock/steady_clock.h"
#include "runtime/launch/interruption.h"
#include "runtime/trace/json_log.h"
#include "runtime/train/kept_state.h"
#include "tools/sgdrun/reporter.h"

namespace sgd::sgdrun {
namespace {

// Ranks that die, hang or hold wrong data may do better the next time; what they refuse they refuse again.
bool IsLoss(const absl::Status& cause) {
  return absl::IsUnavailable(cause) || absl::IsDeadlineExceeded(cause) || absl::IsDataLoss(cause);
}

std::string CauseOf(const process::Failure& failure) {
  const std::string rank = failure.rank ? absl::StrCat("rank ", *failure.rank, ": ") : "";
  return std::string(absl::StripPrefix(failure.cause.message(), rank));
}

}  // namespace

absl::Status Restarts::CheckStarts(const launch::RankEnvironment& environment) const {
  if (!is_on() || environment.is_launcher) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("--restarts is for ranks that sgdrun starts (-n), but this is a rank that ", environment.source,
                   " has started; let that start the ranks again, with --save DIR --resume DIR"));
}

absl::Status Restarts::Keep(const launch::RankEnvironment& environment, train::Job& job) {
  if (!end_) end_ = job.first_step + options_.run.steps;
  // Ranks that others have started have no memory in common before they meet; each host has the shards of its own ranks
  // alone.
  if (!environment.is_launcher || environment.nodes > 1) return absl::OkStatus();
  absl::Status status = train::MakeCopies(environment.size, snapshots_, job);
  snapshots_ = job.snapshots;
  return status;
}

bool Restarts::GoesOn(const absl::Status& status) {
  if (!is_on() || launch::EndsWell(status) || !failure_) return false;
  const process::Failure failure = *std::exchange(failure_, std::nullopt);
  if (left_ == 0 || !end_ || !IsLoss(failure.cause)) return false;
  --left_;
  if (!options_.run.save.empty()) checkpoint::RemoveUnfinished(options_.run.save);
  options_.resumption = Resumption{.lost_at = SteadyNow()};
  ChooseState();
  const uint64_t step = failure.steps_begun == 0 ? options_.resumption->step : failure.steps_begun - 1;
  const std::string where = options_.resumption->is_from_memory   ? "the copy in memory"
                            : options_.run.resume.empty() ? "the start"
                                                          : options_.run.resume;
  PrintNote(absl::StrCat(failure.cause.message(), ", in step ", step, "; going on with step ",
                         options_.resumption->step, " from ", where, "; restarts left: ", left_));
  if (!options_.log_json.empty()) {
    absl::StatusOr<trace::JsonLog> log = trace::JsonLog::Open(options_.log_json, trace::LogStart::kAppend);
    absl::Status written =
        log.ok() ? log->WriteLine(trace::RankLostJson(failure.rank, step, CauseOf(failure))) : log.status();
    if (!written.ok()) PrintNote(std::string(written.message()));
  }
  // The user has asked the ranks to stop, and those that were to do it are gone: the next ones do it.
  if (failure.stop_signal != 0) raise(failure.stop_signal);
  return true;
}

void Restarts::ChooseState() {
  train::RunOptions& run = options_.run;
  const std::optional<checkpoint::TrainingPoint> copied =
      snapshots_ == nullptr ? std::nullopt : snapshots_->newest();
  const std::optional<uint64_t> saved = run.save.empty() ? std::nullopt : checkpoint::NewestStep(run.save);
  uint64_t first_step = 0;
  kept_.reset();
  if (copied && (!saved || *saved <= copied->step)) {
    absl::StatusOr<data::SafetensorsFile> state = snapshots_->OpenNewest();
    if (state.ok()) kept_ = checkpoint::Checkpoint{"the copy of the state in memory", *copied, *std::move(state), {}};
  }
  if (kept_) {
    first_step = kept_->point.step;
    options_.resumption->is_from_memory = true;
  } else if (saved) {
    run.resume = run.save;
    first_step = *saved;
  }
  if (snapshots_ != nullptr) snapshots_->StartOver();
  options_.resumption->step = first_step;
  run.steps = *end_ - first_step;
}

}  // namespace sgd::sgdrun
