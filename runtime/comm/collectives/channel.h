// The layout of a channel's mailbox, in the window of the rank that receives: counters, each of one writer and alone on
// its cache lines, then `depth` places.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>

namespace sgd::comm {

inline constexpr uint32_t kMaxChannelDepth = 1024;
inline constexpr uint64_t kMailboxAlignment = 128;

// How many messages have been sent, or received, since the window was zero. Futexes wait on its low half.
struct alignas(kMailboxAlignment) ChannelCounter {
  std::atomic<uint64_t> count;
  std::atomic<uint32_t> sleepers;  // how many ranks may be sleeping on `count`: of the other end
};

struct MailboxHeader {
  ChannelCounter sent;      // written by the sender
  ChannelCounter received;  // written by the receiver
};

// Places begin at multiples of this many bytes: those of a message, rounded up to a cache line.
constexpr uint64_t PlaceBytes(uint64_t message_bytes) { return (message_bytes + 63) / 64 * 64; }

// Where a place begins in a mailbox: message `number`, counted from 0, is in place number % depth.
constexpr uint64_t PlaceOffset(uint64_t message_bytes, uint64_t place) {
  return sizeof(MailboxHeader) + place * PlaceBytes(message_bytes);
}

// Bytes of a mailbox; nullopt beyond 2^46.
constexpr std::optional<uint64_t> MailboxBytes(uint64_t message_bytes, uint32_t depth) {
  constexpr uint64_t kMost = uint64_t{1} << 46;
  if (message_bytes > kMost / kMaxChannelDepth || depth > kMaxChannelDepth) return std::nullopt;
  const uint64_t bytes = sizeof(MailboxHeader) + depth * PlaceBytes(message_bytes);
  return (bytes + kMailboxAlignment - 1) / kMailboxAlignment * kMailboxAlignment;
}

}  // namespace sgd::comm
