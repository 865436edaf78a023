// Data in one row of a window is sent and received in place; other data is packed.
#include "runtime/comm/hosts/move_flows.h"

#include <algorithm>

namespace sgd::comm {

absl::StatusOr<MoveFlow> MoveFlow::Create(HostLinks& links, const Move& move, bool sends) {
  absl::StatusOr<HostLink*> link = links.Open(move.peer, /*stream=*/0);
  if (!link.ok()) return link.status();
  return MoveFlow(move, sends, *link);
}

void MoveFlow::Begin(std::byte* staging, absl::Span<std::byte* const> host_windows, uint32_t own) {
  staging_ = staging;
  host_windows_ = host_windows;
  own_window_ = host_windows[own];
  first_ = sends_ ? link_->sent() : link_->posted();
  begun_ = consumed_ = 0;
  needs_compute_ = is_computed_ = false;
}

Advance MoveFlow::Step() {
  const bool moved = sends_ ? Send() : Receive();
  if (needs_compute_) return Advance::kComputes;
  return moved ? Advance::kMoved : Advance::kIdle;
}

bool MoveFlow::IsComputed() {
  if (!is_computed_) {
    needs_compute_ = true;
    return false;
  }
  is_computed_ = false;
  return true;
}

void MoveFlow::Compute(TileScratch&) {
  const size_t chunk = sends_ ? begun_ : consumed_;
  const uint64_t begin = BeginOf(chunk), end = EndOf(chunk);
  if (sends_) {
    move_->message.Pack(own_window_, begin, end, Buffer(chunk));
  } else {
    const std::byte* place = move_->message.Find(own_window_, begin, end);
    for (uint32_t target : move_->targets) {
      if (place != nullptr && host_windows_[target] == own_window_) continue;
      move_->message.Unpack(place != nullptr ? place : Buffer(chunk), begin, end, host_windows_[target]);
    }
  }
  is_computed_ = true;
  needs_compute_ = false;
}

bool MoveFlow::Send() {
  bool moved = false;
  const size_t here = earlier_ == nullptr ? chunks() : earlier_->consumed_;
  for (; begun_ < here && link_->MaySend(); ++begun_) {
    const uint64_t begin = BeginOf(begun_), end = EndOf(begun_);
    const std::byte* data = move_->message.Find(own_window_, begin, end);
    if (data == nullptr) {
      if (begun_ >= Buffers() && !link_->HasLeft(first_ + begun_ - Buffers())) break;
      if (!IsComputed()) break;
      data = Buffer(begun_);
    }
    link_->Send(data, end - begin);
    moved = true;
  }
  return moved;
}

bool MoveFlow::Receive() {
  for (; begun_ < chunks() && link_->MayPost(); ++begun_) {
    const uint64_t begin = BeginOf(begun_), end = EndOf(begun_);
    std::byte* place = move_->message.Find(own_window_, begin, end);
    link_->Post(place != nullptr ? place : Buffer(begun_), end - begin);
  }
  bool moved = false;
  for (; consumed_ < chunks() && link_->HasArrived(); ++consumed_) {
    const std::byte* place = move_->message.Find(own_window_, BeginOf(consumed_), EndOf(consumed_));
    if (StoresElsewhere(place) && !IsComputed()) break;
    link_->Take();
    moved = true;
  }
  return moved;
}

bool MoveFlow::StoresElsewhere(const std::byte* place) const {
  return place == nullptr ||
         std::ranges::any_of(move_->targets, [&](uint32_t target) { return host_windows_[target] != own_window_; });
}

void MoveFlow::AppendAwaited(AwaitedPeers* awaited) const {
  // A message that is passed on is awaited where it is received.
  const bool waits_for_earlier = earlier_ != nullptr && begun_ == earlier_->consumed_;
  if (IsDone() || waits_for_earlier) return;
  (sends_ ? awaited->takers : move_->is_passed_on ? awaited->relays : awaited->senders).push_back(link_->peer());
}

bool MoveFlow::IsDone() const {
  if (!sends_) return consumed_ == chunks();
  if (begun_ < chunks()) return false;
  for (size_t i = chunks() - std::min<size_t>(chunks(), HostLink::kWindow); i < chunks(); ++i) {
    if (!link_->HasLeft(first_ + i)) return false;
  }
  return true;
}

}  // namespace sgd::comm
