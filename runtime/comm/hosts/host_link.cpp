// A message's tag holds its sender, stream and number. Acknowledgements are messages too, of how many
// have been taken, a quarter of a window apart.
#include "runtime/comm/hosts/host_link.h"

#include <algorithm>

namespace sgd::comm {
namespace {

using State = Completion::State;

constexpr uint64_t kAckEvery = HostLink::kWindow / 4;

bool IsFree(const Completion& completion) {
  return completion.state == State::kIdle || completion.state == State::kDone;
}

}  // namespace

HostLink::HostLink(Transport& transport, uint32_t rank, uint32_t peer, uint64_t stream)
    : transport_(transport), rank_(rank), peer_(peer), stream_(stream) {
  transport_.Receive(Tag(/*is_ack=*/true, peer_, 0), reinterpret_cast<std::byte*>(&next_ack_.taken),
                     sizeof(next_ack_.taken), next_ack_.completion);
}

// Messages of one sender with one tag come in order, so that numbers may repeat soon.
uint64_t HostLink::Tag(bool is_ack, uint32_t sender, uint64_t number) const {
  constexpr uint64_t kNumbers = uint64_t{1} << 8;
  static_assert(kNumbers > kWindow);
  return uint64_t{is_ack} << 63 | stream_ << 28 | uint64_t{sender} << 8 | number % kNumbers;
}

void HostLink::ReadAcks() {
  while (next_ack_.completion.state == State::kDone) {
    acknowledged_ = std::max(acknowledged_, next_ack_.taken);
    transport_.Receive(Tag(/*is_ack=*/true, peer_, ++acks_read_), reinterpret_cast<std::byte*>(&next_ack_.taken),
                       sizeof(next_ack_.taken), next_ack_.completion);
  }
}

bool HostLink::MaySend() {
  if (sent_ - acknowledged_ >= kWindow) ReadAcks();
  return sent_ - acknowledged_ < kWindow && IsFree(sends_[sent_ % kWindow]);
}

uint64_t HostLink::Send(const std::byte* data, uint64_t bytes) {
  transport_.Send(peer_, Tag(/*is_ack=*/false, rank_, sent_), data, bytes, sends_[sent_ % kWindow]);
  return sent_++;
}

// A place is used again only after its message has left.
bool HostLink::HasLeft(uint64_t number) const {
  return sent_ - number > kWindow || sends_[number % kWindow].state == State::kDone;
}

void HostLink::Post(std::byte* data, uint64_t bytes) {
  transport_.Receive(Tag(/*is_ack=*/false, peer_, posted_), data, bytes, receives_[posted_ % kPosted]);
  ++posted_;
}

bool HostLink::HasArrived() const { return taken_ < posted_ && receives_[taken_ % kPosted].state == State::kDone; }

void HostLink::Take() {
  ++taken_;
  SendDueAck();
}

void HostLink::SendDueAck() {
  if (taken_ - told_ < kAckEvery) return;
  Ack& ack = own_acks_[acks_sent_ % own_acks_.size()];
  if (!IsFree(ack.completion)) return;
  ack.taken = told_ = taken_;
  transport_.Send(peer_, Tag(/*is_ack=*/true, rank_, acks_sent_++), reinterpret_cast<const std::byte*>(&ack.taken),
                  sizeof(ack.taken), ack.completion);
}

absl::Status HostLink::error() const {
  const Completion* failed = nullptr;
  const auto look = [&](const Completion& completion) {
    if (failed == nullptr && completion.state == State::kFailed) failed = &completion;
  };
  std::ranges::for_each(sends_, look);
  std::ranges::for_each(receives_, look);
  look(next_ack_.completion);
  for (const Ack& ack : own_acks_) look(ack.completion);
  if (failed == nullptr) return absl::OkStatus();
  return absl::UnavailableError(failed->cause != nullptr ? failed->cause : "a message has failed");
}

}  // namespace sgd::comm
