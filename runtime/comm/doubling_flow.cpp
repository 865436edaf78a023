// In the first round values are sent as they are, in later ones accumulators: what two equal halves of the tree make is
// the node above them, on both hosts.
#include "runtime/comm/doubling_flow.h"

#include <algorithm>
#include <cstring>

#include "runtime/comm/reduction_flows.h"

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
}

uint64_t DoublingFlow::MessageBytes(size_t round, uint32_t host) const {
  return round == 0 ? plan_->part->ValueBytes(0, host) : plan_->part->AccumulatorBytes(0);
}

bool DoublingFlow::Advance(TileScratch& scratch) {
  for (; posted_ < links_.size() && links_[posted_]->MayPost(); ++posted_)
    links_[posted_]->Post(Got(posted_), MessageBytes(posted_, plan_->rounds[posted_].host));
  bool moved = false;
  while (SendNext(scratch) || JoinNext() || Store(scratch)) moved = true;
  return moved;
}

bool DoublingFlow::SendNext(TileScratch& scratch) {
  if (sent_ == links_.size() || sent_ > joined_ || !links_[sent_]->MaySend()) return false;
  const ReductionPart& part = *plan_->part;
  const std::byte* data = Own(sent_);
  if (sent_ == 0) {
    data = part.FindValues(0, host_, windows_);
    if (data == nullptr) {
      part.MakeValues(0, host_, windows_, Values(), scratch);
      data = Values();
    }
    part.Accumulate(0, host_, data, Own(0));
  }
  numbers_[sent_] = links_[sent_]->Send(data, MessageBytes(sent_, host_));
  ++sent_;
  return true;
}

bool DoublingFlow::JoinNext() {
  if (joined_ == sent_ || joined_ == posted_ || !links_[joined_]->HasArrived()) return false;
  const ReductionPart& part = *plan_->part;
  const DoublingPlan::Round& round = plan_->rounds[joined_];
  std::byte* got = Got(joined_);
  std::byte* const next = Own(joined_ + 1);
  const uint64_t bytes = part.AccumulatorBytes(0);
  if (joined_ == 0) {
    part.Accumulate(0, round.host, got, First());
    got = First();
  }
  // What is in Own(joined_) may still be on its way.
  std::memcpy(next, round.is_left ? got : Own(joined_), bytes);
  part.JoinAccumulators(0, next, round.is_left ? Own(joined_) : got);
  links_[joined_]->Take();
  ++joined_;
  return true;
}

// Values may have been sent from where the result goes.
bool DoublingFlow::Store(TileScratch& scratch) {
  if (is_stored_ || joined_ < links_.size() || !links_[0]->HasLeft(numbers_[0])) return false;
  plan_->part->StoreAccumulators(0, Own(joined_), targets_, scratch);
  return is_stored_ = true;
}

bool DoublingFlow::HaveLeft() const {
  for (size_t round = 0; round < links_.size(); ++round) {
    if (sent_ <= round || !links_[round]->HasLeft(numbers_[round])) return false;
  }
  return true;
}

void DoublingFlow::AppendSilent(SilentPeers* silent) const {
  if (joined_ < links_.size()) (joined_ == 0 ? silent->senders : silent->relays).push_back(links_[joined_]->peer());
  for (size_t round = 0; round < sent_; ++round) {
    if (!links_[round]->HasLeft(numbers_[round])) silent->takers.push_back(links_[round]->peer());
  }
}

}  // namespace sgd::comm
