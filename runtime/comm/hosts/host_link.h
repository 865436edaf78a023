// One stream between this rank and a rank of another host: messages come in order, and the sender is at most a window
// of messages ahead of the receiver, however slow that is.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "absl/status/status.h"
#include "runtime/comm/collectives/channel.h"
#include "runtime/comm/hosts/transport.h"

namespace sgd::comm {

// Both directions of the stream. Numbers count messages since the start. Used under the lock of ProgressEngine.
class HostLink {
 public:
  // Messages that have been sent and of which it is not known yet that they were taken: many, since an acknowledgement
  // waits behind what this rank sends itself, in its buffers and those of networks.
  static constexpr uint64_t kWindow = 32;
  // Messages that have been posted and not taken.
  static constexpr uint64_t kPosted = 8;

  // Streams of channels are named by where the receiver's mailbox is, others are less than kMailboxStreams.
  static constexpr uint64_t kMailboxStreams = uint64_t{1} << 34;
  static constexpr uint64_t ChannelStream(uint64_t mailbox_offset) {
    return kMailboxStreams | mailbox_offset / kMailboxAlignment;
  }

  HostLink(Transport& transport, uint32_t rank, uint32_t peer, uint64_t stream);
  // Drops what is in flight: the transport must have ended.
  ~HostLink() = default;
  HostLink(const HostLink&) = delete;
  HostLink& operator=(const HostLink&) = delete;

  uint32_t peer() const { return peer_; }

  // Whether a message may be sent now: never again after one has failed.
  bool MaySend();
  // Returns its number. `data` stays untouched until HasLeft(number).
  uint64_t Send(const std::byte* data, uint64_t bytes);
  bool HasLeft(uint64_t number) const;
  uint64_t sent() const { return sent_; }

  // At most kPosted messages may be posted and not taken.
  bool MayPost() const { return posted_ - taken_ < kPosted; }
  void Post(std::byte* data, uint64_t bytes);
  // Whether the next message that was posted and not taken is here.
  bool HasArrived() const;
  // Frees its place.
  void Take();
  // Tells the peer how many messages this rank has taken, once that is due and the transport has room.
  void SendDueAck();
  uint64_t posted() const { return posted_; }
  uint64_t taken() const { return taken_; }

  // Unavailable once a message has failed, with the transport's cause.
  absl::Status error() const;

 private:
  struct Ack {
    uint64_t taken = 0;
    Completion completion;
  };
  uint64_t Tag(bool is_ack, uint32_t sender, uint64_t number) const;
  void ReadAcks();

  Transport& transport_;
  uint32_t rank_, peer_;
  uint64_t stream_;
  uint64_t sent_ = 0, acknowledged_ = 0, posted_ = 0, taken_ = 0;
  std::array<Completion, kWindow> sends_;
  std::array<Completion, kPosted> receives_;
  uint64_t acks_sent_ = 0, acks_read_ = 0, told_ = 0;
  Ack next_ack_;                 // that is received
  std::array<Ack, 4> own_acks_;  // that are sent
};

}  // namespace sgd::comm
