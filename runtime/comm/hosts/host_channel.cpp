// Messages are cut into chunks, numbered through; a receiver posts those of free places.
#include "runtime/comm/hosts/host_channel.h"

#include <algorithm>
#include <cstring>

#include "runtime/comm/collectives/channel.h"

namespace sgd::comm {
namespace {

constexpr uint64_t kChunkBytes = 256 << 10;
// So that one message may be on its way while the next one is given.
constexpr uint64_t kSenderPlaces = 2;

}  // namespace

HostChannel::HostChannel(ProgressEngine& engine, const ChannelSpec& spec, HostLink* link)
    : engine_(engine),
      spec_(spec),
      link_(link),
      chunks_(std::max<uint64_t>(1, (spec.message_bytes + kChunkBytes - 1) / kChunkBytes)),
      first_(spec.sends ? link->sent() : link->posted()),
      places_count_(spec.sends ? std::min<uint64_t>(kSenderPlaces, spec.depth) : spec.depth) {}

absl::StatusOr<std::unique_ptr<HostChannel>> HostChannel::Open(ProgressEngine& engine, HostLinks& links,
                                                               const ChannelSpec& spec, std::byte* mailbox) {
  std::unique_ptr<HostChannel> channel;
  {
    const std::unique_lock lock = engine.Lock();
    absl::StatusOr<HostLink*> link = links.Open(spec.peer, HostLink::ChannelStream(spec.mailbox_offset));
    if (!link.ok()) return link.status();
    channel.reset(new HostChannel(engine, spec, *link));
  }
  if (spec.sends) {
    channel->own_places_.resize(channel->places_count_ * PlaceBytes(spec.message_bytes));
    channel->places_ = channel->own_places_.data();
  } else {
    channel->places_ = mailbox + sizeof(MailboxHeader);
  }
  engine.Submit(*channel);
  return channel;
}

std::byte* HostChannel::Place(uint64_t message) const {
  return places_ + message % places_count_ * PlaceBytes(spec_.message_bytes);
}

uint64_t HostChannel::ChunkBytes(uint64_t chunk) const {
  const uint64_t begin = chunk % chunks_ * kChunkBytes;
  return std::min(kChunkBytes, spec_.message_bytes - begin);
}

bool HostChannel::HasLeft(uint64_t message) const {
  if ((message + 1) * chunks_ > begun_) return false;
  for (uint64_t chunk = message * chunks_; chunk < (message + 1) * chunks_; ++chunk) {
    if (!link_->HasLeft(first_ + chunk)) return false;
  }
  return true;
}

Advance HostChannel::Step() { return (spec_.sends ? SendChunks() : TakeChunks()) ? Advance::kMoved : Advance::kIdle; }

bool HostChannel::SendChunks() {
  bool moved = false;
  for (; begun_ < given_ * chunks_ && link_->MaySend(); ++begun_) {
    link_->Send(Place(begun_ / chunks_) + begun_ % chunks_ * kChunkBytes, ChunkBytes(begun_));
    moved = true;
  }
  return moved;
}

bool HostChannel::TakeChunks() {
  bool moved = false;
  do {
    // The places of messages that have not been returned are taken.
    for (; begun_ < (given_ + places_count_) * chunks_ && link_->MayPost(); ++begun_)
      link_->Post(Place(begun_ / chunks_) + begun_ % chunks_ * kChunkBytes, ChunkBytes(begun_));
    if (!link_->HasArrived()) return moved;
    link_->Take();
    ++arrived_;
    moved = true;
  } while (true);
}

// A receiver is in flight in the middle of a message, and a sender until all it was given has left.
bool HostChannel::IsInFlight() const {
  if (!spec_.sends) return arrived_ % chunks_ != 0;
  return begun_ < given_ * chunks_ || (given_ > 0 && !HasLeft(given_ - 1));
}

void HostChannel::AppendAwaited(AwaitedPeers* awaited) const {
  if (!MayGoOn()) (spec_.sends ? awaited->owners : awaited->senders).push_back(spec_.peer);
}

bool HostChannel::MayGoOn() const {
  if (!spec_.sends) return arrived_ >= (given_ + 1) * chunks_;
  return given_ < places_count_ || HasLeft(given_ - places_count_);
}

absl::Status HostChannel::WaitForTurn(absl::Duration timeout, const std::string& description) {
  const ProgressEngine::WaitFor limits{.description = description, .timeout = timeout, .kind = WaitKind::kMessage};
  return engine_.Wait(*this, [this] { return MayGoOn(); }, &limits);
}

// The place of the next message is this thread's until Kick.
absl::Status HostChannel::Send(const std::byte* source, absl::Duration timeout, const std::string& description) {
  if (absl::Status status = WaitForTurn(timeout, description); !status.ok()) return status;
  std::memcpy(Place(given_), source, spec_.message_bytes);
  engine_.Kick(*this, [this] { ++given_; });
  return absl::OkStatus();
}

absl::Status HostChannel::Receive(std::byte* target, absl::Duration timeout, const std::string& description) {
  if (absl::Status status = WaitForTurn(timeout, description); !status.ok()) return status;
  std::memcpy(target, Place(given_), spec_.message_bytes);
  engine_.Kick(*this, [this] { ++given_; });
  return absl::OkStatus();
}

}  // namespace sgd::comm
