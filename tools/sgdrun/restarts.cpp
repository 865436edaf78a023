// Copies in memory outlive ranks since the process that starts them has made them.
#include "tools/sgdrun/restarts.h"

#include <signal.h>

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "runtime/artifact/bundle.h"
#include "runtime/clock/steady_clock.h"
#include "runtime/comm/control/blame.h"
#include "runtime/launch/core_assignment.h"
#include "runtime/launch/interruption.h"
#include "runtime/text/text_file.h"
#include "runtime/trace/json_log.h"
#include "runtime/train/agreed_checkpoint.h"
#include "runtime/train/kept_state.h"
#include "runtime/watch/places.h"
#include "runtime/train/saved_copy.h"
#include "tools/sgdrun/reporter.h"

namespace sgd::sgdrun {
namespace {

// Ranks that die, hang or hold wrong data may do better the next time; what they refuse they refuse again.
bool IsLoss(const absl::Status& cause) {
  return absl::IsUnavailable(cause) || absl::IsDeadlineExceeded(cause) || absl::IsDataLoss(cause);
}

// The step that the ranks were in.
uint64_t StepOf(const process::Failure& failure, uint64_t first_step) {
  return failure.steps_begun == 0 ? first_step : failure.steps_begun - 1;
}

std::string CauseOf(const process::Failure& failure) {
  const std::string rank = failure.rank ? absl::StrCat("rank ", *failure.rank, ": ") : "";
  return std::string(absl::StripPrefix(failure.cause.message(), rank));
}

// Numbers of ranks that one plan of the artifact is for.
std::vector<uint64_t> PlannedRanks(const std::string& artifact) {
  std::vector<uint64_t> planned;
  const absl::StatusOr<artifact::Bundle> bundle = artifact::Bundle::Open(artifact);
  if (!bundle.ok()) return planned;
  for (const artifact::Plan& plan : bundle->plans()) {
    if (artifact::ChoosePlan(bundle->plans(), {.ranks = plan.ranks}).ok()) planned.push_back(plan.ranks);
  }
  return planned;
}

absl::StatusOr<uint32_t> ReadRanks(const std::string& path) {
  std::string text;
  if (const std::optional<std::string> cause = text::ReadTextFile(path, text))
    return absl::InvalidArgumentError(absl::StrCat(path, ": ", *cause));
  uint32_t ranks = 0;
  if (absl::SimpleAtoi(text, &ranks) && ranks != 0) return ranks;
  return absl::InvalidArgumentError(absl::StrCat(path, ": is no number of ranks; expected an integer of 1 or more"));
}

}  // namespace

absl::Status Restarts::CheckStarts(const launch::RankEnvironment& environment) const {
  if (!is_on() || environment.is_launcher) return absl::OkStatus();
  const char* flag = options_.run.resize.empty() ? "--restarts" : "--resize";
  return absl::InvalidArgumentError(
      absl::StrCat(flag, " is for ranks that sgdrun starts (-n), but this is a rank that ", environment.source,
                   " has started; let that start the ranks again, with --save DIR --resume DIR"));
}

absl::Status Restarts::Keep(const launch::RankEnvironment& environment, train::Job& job) {
  if (!end_) {
    begin_ = job.first_step;
    end_ = job.first_step + options_.run.steps;
  }
  // Where the newest checkpoint is damaged, the run goes on from an older one to the same end.
  if (options_.resumption) job.options.steps = *end_ - job.first_step;
  if (job.unverified && is_on()) {
    absl::StatusOr<std::shared_ptr<train::AgreedStep>> agreed = train::AgreedStep::Create();
    if (!agreed.ok()) return agreed.status();
    job.agreed_step = agreed_ = *std::move(agreed);
    begins_ = !options_.resumption;
  }
  ranks_ = environment.size;
  nodes_ = environment.nodes;
  if (absl::Status status = KeepReplacements(job); !status.ok()) return status;
  if (absl::Status status = train::MakeSavedCopy(environment, job); !status.ok()) return status;
  // Ranks that others have started have no memory in common before they meet.
  if (!environment.is_launcher) return absl::OkStatus();
  host_ = {.first = environment.rank, .count = environment.StartedHere()};
  absl::Status status = train::MakeCopies(host_, snapshots_, job);
  // Copies of the ranks before count until these ranks have filled one of their own.
  if (job.snapshots != snapshots_) before_ = std::exchange(snapshots_, job.snapshots);
  return status;
}

absl::Status Restarts::KeepReplacements(train::Job& job) {
  if (!is_on()) return absl::OkStatus();
  absl::StatusOr<std::shared_ptr<train::ReplacementBoard>> board = train::ReplacementBoard::Create();
  if (!board.ok()) return board.status();
  job.replacements = replacements_ = *std::move(board);
  job.replacement = {.every = options_.run.replace_every,
                     .last = replaced_,
                     .restarts_left = left_,
                     .has_spare_host = has_spare_host_};
  job.bound_cores = launch::CoresWithout(launch::AllowedCores(), avoided_);
  return absl::OkStatus();
}

void Restarts::TakeAgreedStep() {
  if (agreed_ == nullptr) return;
  const std::optional<uint64_t> first = std::exchange(agreed_, nullptr)->step();
  if (!first || !begins_) return;
  begin_ = *first;
  end_ = *first + options_.run.steps;
}

bool Restarts::GoesOn(const absl::Status& status) {
  if (!is_on() || !end_) return false;
  TakeAgreedStep();
  if (launch::IsInterrupted(status) && wanted_ranks_) {
    options_.resumption = Resumption{.lost_at = wanted_at_};
    SetRanks(*std::exchange(wanted_ranks_, std::nullopt));
    ChooseState();
    PrintNote(absl::StrCat("going on with step ", options_.resumption->step, " on ", *options_.rank_flags.ranks,
                           " ranks instead of ", ranks_, ", as ", options_.run.resize, " says"));
    return true;
  }
  if (launch::IsInterrupted(status) && replacements_ != nullptr) {
    const std::optional<train::ReplacementBoard::Request> straggler = replacements_->Take();
    return straggler && GoesOnElsewhere(*straggler);
  }
  if (launch::EndsWell(status) || !failure_ || !IsLoss(failure_->cause)) return false;
  return GoesOnAfter(*std::exchange(failure_, std::nullopt));
}

bool Restarts::GoesOnAfter(const process::Failure& failure) {
  const std::optional<uint32_t> fewer = left_ == 0 ? FewerRanks() : std::nullopt;
  if (left_ == 0 && !fewer) return false;
  if (!options_.run.save.empty()) checkpoint::RemoveUnfinished(options_.run.save);
  options_.resumption = Resumption{.lost_at = SteadyNow()};
  // Memory that has changed may have done so between its check and the copy. The next check has passed the older copy.
  if (absl::IsDataLoss(failure.cause) && snapshots_ != nullptr) snapshots_->ForgetNewest();
  loss_ = Loss{.failure = failure, .ranks = fewer, .tail = ""};
  if (!fewer) loss_->tail = absl::StrCat("; restarts left: ", --left_);
  // The ranks that were to give way to others are gone before they could.
  if (const std::optional<uint32_t> wanted = std::exchange(wanted_ranks_, std::nullopt); wanted && !fewer) {
    loss_->ranks = wanted;
    absl::StrAppend(&loss_->tail, "; on ", *wanted, " ranks, as ", options_.run.resize, " says");
  }
  if (loss_->ranks) SetRanks(*loss_->ranks);
  if (fewer) loss_->tail = absl::StrCat(", on ", *fewer, " ranks instead of ", ranks_);
  ++options_.run.past_restarts;
  // On several hosts the launchers agree on the state first.
  if (nodes_ == 1) {
    ChooseState();
    TellLoss();
  }
  // The user has asked the ranks to stop, and those that were to do it are gone: the next ones do it.
  if (failure.stop_signal != 0) raise(failure.stop_signal);
  return true;
}

bool Restarts::GoesOnElsewhere(const train::ReplacementBoard::Request& straggler) {
  const bool is_here = straggler.rank >= host_.first && straggler.rank < host_.first + host_.count;
  if (is_here && straggler.place == train::ReplacementBoard::Place::kOtherHost) hosts_->GiveWay();
  if (is_here && straggler.place == train::ReplacementBoard::Place::kOtherCores) {
    const std::vector<std::vector<int>> parts =
        launch::AssignCores(launch::CoresWithout(launch::AllowedCores(), avoided_), host_.count);
    const size_t own = straggler.rank - host_.first;
    if (own < parts.size()) avoided_.insert(avoided_.end(), parts[own].begin(), parts[own].end());
    std::ranges::sort(avoided_);
  }
  options_.resumption = Resumption{.lost_at = SteadyNow()};
  if (const std::vector<uint64_t> copies = snapshots_->steps(); !copies.empty()) replaced_ = copies.back();
  giving_way_ = straggler;
  --left_;
  ++options_.run.past_restarts;
  if (nodes_ == 1) {
    ChooseState();
    TellReplacement();
  }
  return true;
}

void Restarts::TellReplacement() {
  const bool is_here = giving_way_->rank >= host_.first && giving_way_->rank < host_.first + host_.count;
  const bool moves = giving_way_->place == train::ReplacementBoard::Place::kOtherHost;
  PrintNote(absl::StrCat("rank ", giving_way_->rank, " is started again, ",
                         moves     ? "on another host"
                         : is_here ? absl::StrCat("off ", watch::CoresText(avoided_))
                                   : "on other cores of its host",
                         "; going on with step ", options_.resumption->step, "; restarts left: ", left_));
  giving_way_.reset();
}

void Restarts::TellLoss() {
  const process::Failure& failure = loss_->failure;
  const std::string where = options_.resumption->is_from_memory ? "the copy in memory"
                            : options_.run.resume.empty()       ? "the start"
                                                                : options_.run.resume;
  PrintNote(absl::StrCat(failure.cause.message(), ", in step ", StepOf(failure, options_.resumption->step),
                         "; going on with step ", options_.resumption->step, " from ", where, loss_->tail));
  if (nodes_ == 1) Log(LossJson());
  loss_.reset();
}

std::string Restarts::LossJson() const {
  const process::Failure& failure = loss_->failure;
  const std::optional<uint32_t> blamed = comm::BlamedRank(CauseOf(failure));
  return trace::RankLostJson(blamed ? blamed : failure.rank, StepOf(failure, options_.resumption->step),
                             CauseOf(failure));
}

void Restarts::ChooseState() {
  if (snapshots_ != nullptr && snapshots_->steps().empty() && before_ != nullptr) snapshots_ = before_;
  before_.reset();
  ForgetDamagedCopies();
  const train::HostFacts facts = Facts();
  const train::AgreedState state = train::AgreeOnState({facts}, *begin_);
  GoOnFrom(state, *facts.run, /*has_copy=*/true).IgnoreError();
}

// Hosts may have to agree on the older one.
void Restarts::ForgetDamagedCopies() {
  if (snapshots_ == nullptr) return;
  for (const std::string& damage : snapshots_->ForgetDamaged(/*is_one_enough=*/nodes_ == 1)) PrintNote(damage);
}

void Restarts::SetRanks(uint32_t ranks) {
  options_.rank_flags.ranks = ranks / nodes_;  // on each host
  options_.plan.name.reset();
}

std::optional<uint32_t> Restarts::FewerRanks() const {
  std::optional<uint32_t> most;
  if (options_.min_ranks == 0) return most;
  for (const uint64_t ranks : PlannedRanks(options_.run.artifact)) {
    if (ranks >= options_.min_ranks && ranks < ranks_ && ranks % nodes_ == 0 && (!most || ranks > *most))
      most = static_cast<uint32_t>(ranks);
  }
  return most;
}

bool Restarts::AsksToResize() {
  const absl::StatusOr<uint32_t> ranks = ReadRanks(options_.run.resize);
  if (!ranks.ok()) {
    PrintNote(absl::StrCat("--resize: ", ranks.status().message()));
    return false;
  }
  const std::vector<uint64_t> planned = PlannedRanks(options_.run.artifact);
  if (std::ranges::find(planned, *ranks) == planned.end()) {
    PrintNote(absl::StrCat("--resize: ", options_.run.artifact, " has no plan for ", *ranks,
                           " ranks, or several; the run goes on with ", ranks_, "; compile one more by --mesh"));
    return false;
  }
  if (*ranks == ranks_) return false;
  wanted_ranks_ = *ranks;
  wanted_at_ = SteadyNow();
  return true;
}

void Restarts::Log(const std::string& json) const {
  if (options_.log_json.empty()) return;
  // The rank that is lost may be one that waits for the reader of a pipe, and this process must go on.
  absl::StatusOr<trace::JsonLog> log =
      trace::JsonLog::Open(options_.log_json, trace::LogStart::kAppend, trace::SlowReader::kFail);
  const absl::Status written = log.ok() ? log->WriteLine(json) : log.status();
  if (!written.ok()) PrintNote(std::string(written.message()));
}

}  // namespace sgd::sgdrun
