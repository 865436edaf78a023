// Reports of all ranks are gathered at each check; what they show is then looked into by all ranks together.
#include "runtime/train/training_guard.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/train/train_loop.h"

namespace sgd::train {
namespace {

using guard::Alarm;
using guard::AlarmKind;
using guard::RankReport;
using guard::TensorSum;

constexpr uint64_t kMostSkippedInTurn = 10;
// For Control::RequestStop, where signals of users are positive.
constexpr int kStopOfGuard = -1;

std::vector<uint32_t> DifferentRanks(std::span<const RankReport> reports) {
  std::vector<uint32_t> ranks;
  for (uint32_t rank = 0; rank < reports.size(); ++rank) {
    if (reports[rank].is_different != 0) ranks.push_back(rank);
  }
  return ranks;
}

std::string AfterStep(uint64_t steps_done) {
  return steps_done == 0 ? "before the first step" : absl::StrCat("after step ", steps_done - 1);
}

std::vector<uint32_t> Without(const std::vector<uint32_t>& all, const std::vector<uint32_t>& some) {
  std::vector<uint32_t> rest;
  std::ranges::copy_if(all, std::back_inserter(rest),
                       [&](uint32_t rank) { return std::ranges::find(some, rank) == some.end(); });
  return rest;
}

// "params/w", "params/w and momentum/w", "params/w and 7 other tensors".
std::string NamesText(const std::vector<std::string>& names) {
  if (names.size() == 1) return names[0];
  return names.size() == 2 ? absl::StrCat(names[0], " and ", names[1])
                           : absl::StrCat(names[0], " and ", names.size() - 1, " other tensors");
}

// The verdict of repeated steps about devices.
std::string VerdictOf(const std::vector<uint32_t>& different) {
  if (different.empty()) return "repeated, the steps give the same bytes on all ranks, so no device is at fault";
  return absl::StrCat(
      "repeated, the steps give other bytes on ", guard::RanksText(different),
      different.size() == 1 ? ", whose device or memory is at fault" : ", so a device or memory is at fault");
}

std::string CauseWord(AlarmKind kind) {
  switch (kind) {
    case AlarmKind::kLossNotFinite:
      return "loss";
    case AlarmKind::kStateNotFinite:
      return "state";
    case AlarmKind::kLossLimit:
      return "loss_limit";
    default:
      return "grad_norm_limit";
  }
}

}  // namespace

TrainingGuard::TrainingGuard(Session& session, TrainObserver* observer, StateSaver* saver)
    : session_(session),
      observer_(observer),
      saver_(saver),
      options_(session.job().options.guard),
      state_(session),
      judge_(session.job()),
      point_{.judge = judge_} {}

std::string TrainingGuard::NameOf(uint64_t input) const { return ShortName(session_.job().program.inputs[input].name); }

std::vector<std::string> TrainingGuard::TensorsOf(const Alarm& alarm) const {
  if (alarm.tensor == Alarm::kNoTensor) return {};
  return {NameOf(alarm.tensor)};
}

std::string TrainingGuard::TextOf(const Alarm& alarm) const {
  return AlarmText(alarm, alarm.tensor == Alarm::kNoTensor ? "" : NameOf(alarm.tensor));
}

void TrainingGuard::AskToStop() {
  if (!std::exchange(asks_to_stop_, true)) session_.control().RequestStop(kStopOfGuard);
}

void TrainingGuard::CompareOnce(size_t tensor) {
  if (is_compared_[tensor]) return;
  is_compared_[tensor] = true;
  if (change_.is_set() || state_.IsUnchanged(tensor, point_.sums[tensor])) return;
  change_ = {.tensor = state_.input(tensor), .steps_done = point_.steps_done};
  AskToStop();
}

void TrainingGuard::CompareAll() {
  for (size_t tensor = 0; tensor < state_.size(); ++tensor) CompareOnce(tensor);
}

void TrainingGuard::Before(uint64_t instruction) {
  for (size_t tensor : state_.WrittenBy(instruction)) CompareOnce(tensor);
}

absl::Status TrainingGuard::BeforeStep(uint64_t step) {
  if (!state_.has_kept()) {
    if (absl::Status status = Start(step); !status.ok()) return status;
  }
  if (!is_at_point_) return absl::OkStatus();
  is_compared_.assign(state_.size(), false);
  if (!session_.has_streams()) {
    session_.ObserveNextStep(*this);
    return absl::OkStatus();
  }
  // There, the step carries its outputs itself, and ends when the next one has begun.
  CompareAll();
  is_at_point_ = false;
  return absl::OkStatus();
}

void TrainingGuard::StepEnded(const trace::StepRecord& step) {
  // Compares state that the step has not written: its outputs are not carried yet.
  if (std::exchange(is_at_point_, false)) CompareAll();
  const Alarm alarm = judge_.Judge(step);
  if (!alarm.is_set() || alarm_.is_set()) return;
  alarm_ = alarm;
  // A step that is left out can wait for the check, the end of the run need not.
  if (!options_.skips_steps) AskToStop();
}

absl::StatusOr<std::vector<RankReport>> TrainingGuard::Gather(const RankReport& report) const {
  absl::StatusOr<std::vector<std::string>> texts =
      session_.control().AllGatherBytes(report.Bytes(), session_.job().options.deadline);
  if (!texts.ok()) return texts.status();
  std::vector<RankReport> reports;
  for (const std::string& text : *texts) {
    absl::StatusOr<RankReport> read = RankReport::FromBytes(text, report.digests.size());
    if (!read.ok()) return read.status();
    reports.push_back(*std::move(read));
  }
  return reports;
}

absl::Status TrainingGuard::Start(uint64_t steps_done) {
  const std::vector<TensorSum> sums = state_.Sum();
  absl::StatusOr<std::vector<RankReport>> reports = Gather({.digests = state_.Digests(sums)});
  if (!reports.ok()) return reports.status();
  if (absl::Status status = CheckReplicas(steps_done, sums, *reports); !status.ok()) return status;
  for (size_t i = 0; i < sums.size(); ++i) {
    point_.is_exempt.push_back(!sums[i].is_finite);
    if (!sums[i].is_finite && observer_ != nullptr)
      observer_->Note(absl::StrCat("--guard: ", state_.name(i), " is not finite from the start, so it may be later"));
  }
  return Keep(steps_done, sums);
}

absl::Status TrainingGuard::Keep(uint64_t steps_done, const std::vector<TensorSum>& sums) {
  point_.steps_done = steps_done, point_.sums = sums, point_.judge = judge_;
  point_.skipped.clear();
  is_at_point_ = true;
  return state_.Keep();
}

absl::StatusOr<uint64_t> TrainingGuard::Check(uint64_t steps_done) {
  if (!state_.has_kept() || (is_at_point_ && point_.steps_done == steps_done)) return steps_done;
  if (std::exchange(is_at_point_, false)) {  // the steps since are left out
    is_compared_.assign(state_.size(), false);
    CompareAll();
  }
  const std::vector<TensorSum> sums = state_.Sum();
  if (steps_done > 0 && !alarm_.is_set()) alarm_ = JudgeSums(state_, sums, point_.is_exempt, steps_done - 1);
  absl::StatusOr<std::vector<RankReport>> reports =
      Gather({.change = change_, .alarm = alarm_, .digests = state_.Digests(sums)});
  if (!reports.ok()) return reports.status();
  for (uint32_t rank = 0; rank < reports->size(); ++rank) {
    const guard::Change& change = (*reports)[rank].change;
    if (!change.is_set()) continue;
    const std::string name = NameOf(change.tensor);
    // It may have changed before it was saved.
    const std::string doubt = saver_ == nullptr ? "" : saver_->Doubt(change.steps_done);
    if (!doubt.empty() && observer_ != nullptr) observer_->Note(absl::StrCat("guard: ", doubt));
    return End({.rank = rank,
                .tensors = {name},
                .step = change.steps_done == 0 ? 0 : change.steps_done - 1,
                .cause = "memory",
                .text = absl::StrCat("its bytes of ", name, " have changed ", AfterStep(change.steps_done),
                                     ", before a step wrote them: its memory is at fault")});
  }
  if (absl::Status status = CheckReplicas(steps_done, sums, *reports); !status.ok()) return status;
  const guard::FirstAlarm first = guard::FindFirstAlarm(*reports);
  if (first.alarm.is_set()) return HandleAlarm(steps_done, sums, first);
  if (absl::Status status = Keep(steps_done, sums); !status.ok()) return status;
  return steps_done;
}

absl::Status TrainingGuard::CheckReplicas(uint64_t steps_done, const std::vector<TensorSum>& sums,
                                          std::span<const RankReport> reports) {
  for (size_t i = 0; i < state_.classes().size(); ++i) {
    const guard::ReplicaClass& replicas = state_.classes()[i];
    if (!replicas.has_replicas) continue;
    std::vector<uint64_t> digests;
    for (const RankReport& report : reports) digests.push_back(report.digests[i]);
    if (guard::FindDifference(replicas, digests).ranks.empty()) continue;
    RankReport details;
    for (size_t tensor : replicas.tensors) details.digests.push_back(sums[tensor].sum);
    absl::StatusOr<std::vector<RankReport>> all = Gather(details);
    if (!all.ok()) return all.status();
    std::vector<size_t> tensors;
    guard::Difference first;
    for (size_t k = 0; k < replicas.tensors.size(); ++k) {
      std::vector<uint64_t> of_tensor;
      for (const RankReport& report : *all) of_tensor.push_back(report.digests[k]);
      const guard::Difference difference = guard::FindDifference(replicas, of_tensor);
      if (difference.ranks.empty()) continue;
      if (tensors.empty()) first = difference;
      tensors.push_back(replicas.tensors[k]);
    }
    return NameReplica(steps_done, sums, tensors, first);
  }
  return absl::OkStatus();
}

absl::Status TrainingGuard::NameReplica(uint64_t steps_done, const std::vector<TensorSum>& sums,
                                        const std::vector<size_t>& tensors, const guard::Difference& difference) {
  std::vector<uint32_t> odd = difference.odd;
  std::string verdict;
  if (state_.has_kept()) {
    StepRepeater repeater(session_, state_, point_);
    absl::StatusOr<StepRepeater::Outcome> outcome = repeater.Repeat(steps_done, sums);
    if (!outcome.ok()) return outcome.status();
    absl::StatusOr<std::vector<RankReport>> reports = Gather({.is_different = outcome->is_different});
    if (!reports.ok()) return reports.status();
    const std::vector<uint32_t> different = DifferentRanks(*reports);
    verdict = absl::StrCat("; ", VerdictOf(different));
    if (odd.empty() && different.size() == 1) odd = different;
  }
  std::vector<std::string> names;
  for (size_t tensor : tensors) names.push_back(state_.name(tensor));
  const std::string name = NamesText(names);
  std::string text;
  if (odd.empty()) {
    text = absl::StrCat("holds other bytes of ", name, " than ",
                        guard::RanksText(Without(difference.ranks, {difference.ranks[0]})), " ", AfterStep(steps_done),
                        ", and no majority says which are right", verdict);
    odd = {difference.ranks[0]};
  } else {
    const std::vector<uint32_t> others = Without(odd, {odd[0]});
    text = absl::StrCat(others.empty() ? "" : absl::StrCat("as ", guard::RanksText(others), " do, it "),
                        "holds other bytes of ", name, " than ", guard::RanksText(Without(difference.ranks, odd)), " ",
                        AfterStep(steps_done), verdict);
  }
  return End({.rank = odd[0],
              .tensors = names,
              .step = steps_done == 0 ? 0 : steps_done - 1,
              .cause = "replicas",
              .text = text});
}

absl::StatusOr<uint64_t> TrainingGuard::HandleAlarm(uint64_t steps_done, const std::vector<TensorSum>& sums,
                                                    const guard::FirstAlarm& first) {
  absl::StatusOr<StepRepeater::Outcome> outcome = StepRepeater(session_, state_, point_).Repeat(steps_done, sums);
  if (!outcome.ok()) return outcome.status();
  absl::StatusOr<std::vector<RankReport>> reports =
      Gather({.alarm = outcome->alarm, .is_different = outcome->is_different});
  if (!reports.ok()) return reports.status();
  const std::vector<uint32_t> different = DifferentRanks(*reports);
  const guard::FirstAlarm again = guard::FindFirstAlarm(*reports);
  if (different.empty() && again.alarm.is_set()) return BlameData(again);
  return End({.rank = different.empty() ? first.rank : different[0],
              .tensors = TensorsOf(first.alarm),
              .step = first.alarm.step,
              .cause = "device",
              .text = absl::StrCat(TextOf(first.alarm), "; ",
                                   different.empty() ? "repeated, the steps show no fault, so a device was at fault"
                                                     : VerdictOf(different))});
}

absl::StatusOr<uint64_t> TrainingGuard::BlameData(const guard::FirstAlarm& first) {
  const Alarm& alarm = first.alarm;
  Finding finding{.code = absl::StatusCode::kOutOfRange,
                  .rank = first.rank,
                  .tensors = TensorsOf(alarm),
                  .step = alarm.step,
                  .cause = CauseWord(alarm.kind),
                  .text = TextOf(alarm)};
  if (alarm.kind == AlarmKind::kLossNotFinite || alarm.kind == AlarmKind::kStateNotFinite) {
    absl::StatusOr<StepRepeater::Cause> cause = StepRepeater(session_, state_, point_).FindCause(alarm);
    if (!cause.ok()) return cause.status();
    if (!cause->text.empty()) {
      finding.rank = cause->rank;
      absl::StrAppend(&finding.text, ": ", cause->text);
    }
  }
  absl::StrAppend(&finding.text, "; repeated, the step gives the same bytes, so no device is at fault");
  if (!options_.skips_steps) return End(finding);
  if (skipped_in_turn_ == kMostSkippedInTurn && *last_skipped_ + 1 == alarm.step) {
    absl::StrAppend(&finding.text, "; ", kMostSkippedInTurn, " steps have been left out in turn");
    return End(finding);
  }
  return Skip(finding);
}

absl::StatusOr<uint64_t> TrainingGuard::Skip(const Finding& finding) {
  if (absl::Status status = StepRepeater(session_, state_, point_).GoBack(); !status.ok()) return status;
  skipped_in_turn_ = last_skipped_ && *last_skipped_ + 1 == finding.step ? skipped_in_turn_ + 1 : 1;
  last_skipped_ = finding.step;
  point_.skipped.insert(finding.step);
  judge_ = point_.judge;
  alarm_ = {};
  is_at_point_ = true;
  if (absl::Status status = Tell(finding, /*goes_on=*/true); !status.ok()) return status;
  return point_.steps_done;
}

absl::Status TrainingGuard::Tell(const Finding& finding, bool goes_on) const {
  if (observer_ == nullptr) return absl::OkStatus();
  std::string json = absl::StrCat("{\"event\": \"guard\", \"rank\": ", finding.rank);
  if (!finding.tensors.empty()) absl::StrAppend(&json, ", \"tensor\": ", trace::JsonString(finding.tensors[0]));
  for (size_t i = 1; i < finding.tensors.size(); ++i) {
    absl::StrAppend(&json, i == 1 ? ", \"other_tensors\": [" : ", ", trace::JsonString(finding.tensors[i]),
                    i + 1 == finding.tensors.size() ? "]" : "");
  }
  absl::StrAppend(&json, ", \"step\": ", finding.step, ", \"cause\": ", trace::JsonString(finding.cause),
                  ", \"action\": ", goes_on ? "\"skip\"" : "\"stop\"", ", \"text\": ", trace::JsonString(finding.text));
  if (goes_on) {
    absl::StrAppend(&json, ", \"next_step\": ", point_.steps_done);
    observer_->Note(absl::StrCat("guard: rank ", finding.rank, ": ", finding.text, "; goes on with step ",
                                 point_.steps_done, " and leaves out step ", finding.step));
  }
  return observer_->Event(json + "}");
}

absl::Status TrainingGuard::End(const Finding& finding) const {
  if (absl::Status status = Tell(finding, /*goes_on=*/false); !status.ok()) return status;
  return EndAsRank(finding.rank, absl::Status(finding.code, absl::StrCat("guard: ", finding.text)), session_.control(),
                   session_.job().options.deadline);
}

}  // namespace sgd::train
