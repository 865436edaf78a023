// Messages are cut into chunks, numbered through; a receiver posts those of free places.
#include "runtime/comm/host_channel.h"

#include <algorithm>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "runtime/comm/channel.h"

namespace sgd::comm {
namespace {

constexpr uint64_t kChunkBytes = 256 << 10;
// So that one message may be on its way while the next one is given.
constexpr uint64_t kSenderPlaces = 2;

}  // namespace

HostChannel::HostChannel(HostLinks& links, const ChannelSpec& spec, HostLink* link)
    : links_(links),
      spec_(spec),
      link_(link),
      chunks_(std::max<uint64_t>(1, (spec.message_bytes + kChunkBytes - 1) / kChunkBytes)),
      first_(spec.sends ? link->sent() : link->posted()),
      places_count_(spec.sends ? std::min<uint64_t>(kSenderPlaces, spec.depth) : spec.depth) {}

absl::StatusOr<std::unique_ptr<HostChannel>> HostChannel::Open(HostLinks& links, const ChannelSpec& spec,
                                                               std::byte* mailbox) {
  absl::StatusOr<HostLink*> link = links.Open(spec.peer, HostLink::ChannelStream(spec.mailbox_offset));
  if (!link.ok()) return link.status();
  std::unique_ptr<HostChannel> channel(new HostChannel(links, spec, *link));
  if (spec.sends) {
    channel->own_places_.resize(channel->places_count_ * PlaceBytes(spec.message_bytes));
    channel->places_ = channel->own_places_.data();
  } else {
    channel->places_ = mailbox + sizeof(MailboxHeader);
  }
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

bool HostChannel::Advance() { return spec_.sends ? AdvanceSends() : AdvanceReceives(); }

bool HostChannel::AdvanceSends() {
  bool moved = false;
  for (; begun_ < given_ * chunks_ && link_->MaySend(); ++begun_) {
    link_->Send(Place(begun_ / chunks_) + begun_ % chunks_ * kChunkBytes, ChunkBytes(begun_));
    moved = true;
  }
  return moved;
}

bool HostChannel::AdvanceReceives() {
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

absl::Status HostChannel::Send(const std::byte* source, absl::Duration timeout, bool spins,
                               const std::string& description) {
  const auto has_place = [&] {
    const bool moved = Advance();
    if (given_ < places_count_ || HasLeft(given_ - places_count_)) {
      std::memcpy(Place(given_), source, spec_.message_bytes);
      ++given_;
      Advance();
      return HostLinks::Advance::kDone;
    }
    return moved ? HostLinks::Advance::kMoved : HostLinks::Advance::kIdle;
  };
  return links_.Drive(has_place, timeout, spins, description, [&] {
    return HostLinks::Missing{.text = absl::StrCat(links_.placement().Describe(spec_.peer), " freed no place")};
  });
}

absl::Status HostChannel::Receive(std::byte* target, absl::Duration timeout, bool spins,
                                  const std::string& description) {
  const auto has_message = [&] {
    const bool moved = Advance();
    if (arrived_ >= (given_ + 1) * chunks_) {
      std::memcpy(target, Place(given_), spec_.message_bytes);
      ++given_;
      Advance();
      return HostLinks::Advance::kDone;
    }
    return moved ? HostLinks::Advance::kMoved : HostLinks::Advance::kIdle;
  };
  return links_.Drive(has_message, timeout, spins, description, [&] {
    return HostLinks::Missing{.text = absl::StrCat(links_.placement().Describe(spec_.peer), " sent nothing")};
  });
}

}  // namespace sgd::comm
