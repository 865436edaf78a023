// In the first round values are sent as they are, in later ones accumulators: what two equal halves of the tree make is
// the node above them, on both hosts.
#include "runtime/comm/hosts/doubling_flow.h"

#include <algorithm>
#include <cstring>

#include "runtime/comm/hosts/reduction_flows.h"

namespace sgd::comm {

absl::StatusOr<DoublingFlow> DoublingFlow::Create(HostLinks& links, const DoublingPlan& plan, uint32_t host) {
  DoublingFlow flow(plan, host);
  flow.place_bytes_ = (std::max(plan.part->AccumulatorBytes(0), plan.part->ValueBytes(0, host)) + 63) / 64 * 64;
  for (const DoublingPlan::Round& round : plan.rounds) {
    absl::StatusOr<HostLink*> link = links.Open(round.peer, kForwardStream);
    if (!link.ok()) return link.status();
    flow.links_.push_back(*link);
  }
  flow.numbers_.resize(plan.rounds.size());
  return flow;
}

uint64_t DoublingFlow::staging_bytes() const { return (2 * plan_->rounds.size() + 3) * place_bytes_; }

void DoublingFlow::Begin(std::byte* staging, ReductionPart::Windows windows,
                         absl::Span<std::byte* const> host_windows) {
  staging_ = staging;
  windows_ = windows;
  targets_.clear();
  for (uint32_t index : plan_->targets) targets_.push_back(host_windows[index]);
  posted_ = sent_ = joined_ = 0;
  is_stored_ = false;
  work_ = computed_ = Work::kNone;
}

uint64_t DoublingFlow::MessageBytes(size_t round, uint32_t host) const {
  return round == 0 ? plan_->part->ValueBytes(0, host) : plan_->part->AccumulatorBytes(0);
}

Advance DoublingFlow::Step() {
  for (; posted_ < links_.size() && links_[posted_]->MayPost(); ++posted_)
    links_[posted_]->Post(Got(posted_), MessageBytes(posted_, plan_->rounds[posted_].host));
  bool moved = false;
  while (SendNext() || JoinNext() || Store()) moved = true;
  if (work_ != Work::kNone) return Advance::kComputes;
  return moved ? Advance::kMoved : Advance::kIdle;
}

bool DoublingFlow::IsComputed(Work work) {
  if (computed_ == work) {
    computed_ = Work::kNone;
    return true;
  }
  work_ = work;
  return false;
}

void DoublingFlow::Compute(TileScratch& scratch) {
  const ReductionPart& part = *plan_->part;
  switch (work_) {
    case Work::kNone:
      return;
    case Work::kAccumulate:
      if (FirstValues() == Values()) part.MakeValues(0, host_, windows_, Values(), scratch);
      part.Accumulate(0, host_, FirstValues(), Own(0));
      break;
    case Work::kJoin:
      JoinRound();
      break;
    case Work::kStore:
      part.StoreAccumulators(0, Own(joined_), targets_, scratch);
      break;
  }
  computed_ = work_;
  work_ = Work::kNone;
}

// Where the values that are sent first lie: in a window, or made in memory of their own.
const std::byte* DoublingFlow::FirstValues() const {
  const std::byte* found = plan_->part->FindValues(0, host_, windows_);
  return found != nullptr ? found : Values();
}

bool DoublingFlow::SendNext() {
  if (sent_ == links_.size() || sent_ > joined_ || !links_[sent_]->MaySend()) return false;
  if (sent_ == 0 && !IsComputed(Work::kAccumulate)) return false;
  numbers_[sent_] = links_[sent_]->Send(sent_ == 0 ? FirstValues() : Own(sent_), MessageBytes(sent_, host_));
  ++sent_;
  return true;
}

bool DoublingFlow::JoinNext() {
  if (joined_ == sent_ || joined_ == posted_ || !links_[joined_]->HasArrived()) return false;
  if (!IsComputed(Work::kJoin)) return false;
  links_[joined_]->Take();
  ++joined_;
  return true;
}

void DoublingFlow::JoinRound() {
  const ReductionPart& part = *plan_->part;
  const DoublingPlan::Round& round = plan_->rounds[joined_];
  std::byte* got = Got(joined_);
  std::byte* const next = Own(joined_ + 1);
  if (joined_ == 0) {
    part.Accumulate(0, round.host, got, First());
    got = First();
  }
  // Own(joined_) may not have left yet.
  std::memcpy(next, round.is_left ? got : Own(joined_), part.AccumulatorBytes(0));
  part.JoinAccumulators(0, next, round.is_left ? Own(joined_) : got);
}

// Values may be sent from where the result goes: they must have left.
bool DoublingFlow::Store() {
  if (is_stored_ || joined_ < links_.size() || !links_[0]->HasLeft(numbers_[0])) return false;
  return is_stored_ = IsComputed(Work::kStore);
}

bool DoublingFlow::HaveLeft() const {
  for (size_t round = 0; round < links_.size(); ++round) {
    if (sent_ <= round || !links_[round]->HasLeft(numbers_[round])) return false;
  }
  return true;
}

void DoublingFlow::AppendAwaited(AwaitedPeers* awaited) const {
  if (joined_ < links_.size()) (joined_ == 0 ? awaited->senders : awaited->relays).push_back(links_[joined_]->peer());
  for (size_t round = 0; round < sent_; ++round) {
    if (!links_[round]->HasLeft(numbers_[round])) awaited->takers.push_back(links_[round]->peer());
  }
}

}  // namespace sgd::comm
