// How the launchers of several hosts agree on the state to go on from. Facts of all are with each of them, and all
// decide by the same ones.
#include <signal.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "runtime/clock/steady_clock.h"
#include "runtime/launch/interruption.h"
#include "tools/sgdrun/reporter.h"
#include "tools/sgdrun/restarts.h"

namespace sgd::sgdrun {
namespace {

// Signals stay blocked between the ranks before and those that come next.
absl::Status SignalThatWaits() {
  sigset_t pending;
  if (sigpending(&pending) != 0) return absl::OkStatus();
  for (const int signal : {SIGINT, SIGTERM, SIGUSR1}) {
    if (sigismember(&pending, signal) == 1)
      return absl::CancelledError(absl::StrCat("interrupted by ", launch::SignalText(signal)));
  }
  return absl::OkStatus();
}

}  // namespace

launch::HostMeeting& Restarts::HostsOf(const launch::RankEnvironment& environment, const std::string& secret) {
  if (hosts_ == nullptr) {
    hosts_ = std::make_unique<launch::HostMeeting>(
        launch::HostMeetingOptions{.places = environment.places,
                                   .node = environment.node,
                                   .nodes = environment.nodes,
                                   .spares = options_.rank_flags.spares,
                                   .secret = secret,
                                   .timeout = options_.run.deadline,
                                   .own_failure = SignalThatWaits,
                                   .became_spare = [this] { return BecomeSpare(); },
                                   .note = PrintNote});
  }
  return *hosts_;
}

void Restarts::TellHosts(const launch::RankEnvironment& environment, const std::string& secret,
                         const absl::Status& cause) {
  if (!environment.is_spare) HostsOf(environment, secret).Fail(cause);
}

absl::StatusOr<bool> Restarts::MeetHosts(const launch::RankEnvironment& environment, const std::string& secret) {
  nodes_ = environment.nodes;
  ForgetDamagedCopies();
  const absl::StatusOr<launch::HostRoster> roster = HostsOf(environment, secret).Meet(train::HostFactsJson(Facts()));
  if (absl::IsCancelled(roster.status()) && roster.status().message() == launch::kRunHasEnded) {
    PrintNote("the run has ended, and has not needed this spare");
    return false;
  }
  if (!roster.ok()) {
    if (loss_) PrintNote(std::string(loss_->failure.cause.message()));
    return roster.status();
  }
  has_met_ = true;
  has_spare_host_ = roster->spares > 0;
  if (std::exchange(was_spare_, false) || environment.is_spare)
    PrintNote(absl::StrCat("this spare takes the place of host ", roster->node));
  options_.rank_flags.node_rank = roster->node;
  options_.rank_flags.master = roster->nodes[0].place;
  if (absl::Status status = AgreeWith(*roster); !status.ok()) return status;
  return true;
}

std::string Restarts::BecomeSpare() {
  PrintNote("the ranks of this host go on on another host; this launcher is a spare from now on");
  snapshots_.reset();
  before_.reset();
  begin_.reset();
  end_.reset();
  giving_way_.reset();
  loss_.reset();
  options_.resumption.reset();
  avoided_.clear();
  was_spare_ = true;
  return train::HostFactsJson(Facts());
}

train::HostFacts Restarts::Facts() const {
  train::HostFacts facts;
  if (!options_.run.save.empty()) facts.saved = checkpoint::NewestStep(options_.run.save);
  if (!end_) return facts;
  facts.run.emplace();
  facts.run->first = *begin_;
  facts.run->end = *end_;
  facts.run->restarts_left = left_;
  facts.run->past_restarts = options_.run.past_restarts;
  facts.run->replaced = replaced_.value_or(0);
  if (loss_) facts.run->loss = LossJson();
  if (snapshots_ == nullptr) return facts;
  facts.run->point = snapshots_->point();
  // Ranks of other numbers hold other parts of the state than those of this host did.
  if (nodes_ > 1 && loss_ && loss_->ranks) return facts;
  facts.copies = snapshots_->steps();
  facts.of_other_host = snapshots_->StepsOfOtherHost();
  return facts;
}

absl::Status Restarts::AgreeWith(const launch::HostRoster& roster) {
  std::vector<train::HostFacts> hosts;
  for (const launch::HostMember& member : roster.nodes) {
    absl::StatusOr<train::HostFacts> facts = train::ParseHostFacts(member.claim.facts);
    if (!facts.ok()) return facts.status();
    hosts.push_back(*std::move(facts));
  }
  const auto knows_run = [](const train::HostFacts& facts) { return facts.run.has_value(); };
  const auto old = std::ranges::find_if(hosts, knows_run);
  if (old == hosts.end()) return absl::OkStatus();  // the run begins
  const train::HostFacts::Run run = *old->run;
  const bool is_new = !end_;
  begin_ = run.first;
  end_ = run.end;
  for (const train::HostFacts& facts : hosts) {
    if (!facts.run) continue;
    left_ = std::min(is_new ? run.restarts_left : left_, facts.run->restarts_left);
    options_.run.past_restarts = std::max(options_.run.past_restarts, facts.run->past_restarts);
    if (facts.run->replaced != 0) replaced_ = std::max(replaced_.value_or(0), facts.run->replaced);
  }
  if (!options_.resumption)
    options_.resumption = Resumption{.lost_at = SteadyNow() - absl::Milliseconds(roster.waited_ms)};
  const train::AgreedState state = train::AgreeOnState(hosts, *begin_);
  const bool has_copy = std::ranges::find(state.without_state, roster.node) == state.without_state.end();
  if (absl::Status status = GoOnFrom(state, run, has_copy); !status.ok()) return status;
  // The log is that of rank 0.
  if (roster.node == 0) {
    const auto with_loss = std::ranges::find_if(
        hosts, [](const train::HostFacts& facts) { return facts.run && !facts.run->loss.empty(); });
    if (with_loss != hosts.end()) Log(with_loss->run->loss);
  }
  if (loss_) TellLoss();
  if (giving_way_) TellReplacement();
  return absl::OkStatus();
}

absl::Status Restarts::GoOnFrom(const train::AgreedState& state, const train::HostFacts::Run& run, bool has_copy) {
  using From = train::AgreedState::From;
  kept_.reset();
  if (state.from == From::kCopies) {
    kept_ = train::KeptState{.point = run.point, .copy = std::nullopt, .without_state = state.without_state};
    kept_->point.step = state.step;
    if (has_copy) {
      absl::StatusOr<data::SafetensorsFile> file = snapshots_->Open(state.step);
      if (!file.ok()) return file.status();
      kept_->copy = checkpoint::Checkpoint{"the copy of the state in memory", kept_->point, *std::move(file), {}};
    }
  } else if (state.from == From::kCheckpoint) {
    options_.run.resume = options_.run.save;
  }
  const bool is_kept = state.from == From::kCopies && has_copy;
  if (snapshots_ != nullptr) snapshots_->StartOver(is_kept ? std::optional(state.step) : std::nullopt);
  options_.resumption->is_from_memory = state.from == From::kCopies;
  options_.resumption->step = state.step;
  options_.run.steps = *end_ - state.step;
  return absl::OkStatus();
}

}  // namespace sgd::sgdrun
