// Payload bytes that a rank sends in one collective, by the ring rule; shared by the compiler's
// report and the runtime's counter. Depends on nothing, so that both halves count with the very
// same function.
#pragma once

#include <cstdint>

namespace sgd::comm {

// Values equal those of program.fbs.
enum class CollectiveKind : uint8_t {
  kAllReduce,
  kAllGather,
  kReduceScatter,
  kAllToAll,
  kPermute,
  kBroadcast,
  kGatherRange
};

// `bytes` of one rank, summed over the operands of a bucket before this is called:
//   AllReduce, Broadcast, Permute: the operand; AllGather: the result; ReduceScatter, AllToAll: the
//   operand before it is cut; GatherRange: what the most loaded rank sends (AddSentBytes of tile_range.h).
// Exact where the division is, else rounded down; cannot overflow unless the result does. A group
// of one rank sends nothing. A permute counts what the most loaded rank sends, that is `bytes`,
// whichever ranks send to themselves.
constexpr uint64_t SentBytes(CollectiveKind kind, uint64_t group_size, uint64_t bytes) {
  if (group_size <= 1) return 0;
  if (kind == CollectiveKind::kPermute || kind == CollectiveKind::kGatherRange) return bytes;
  const uint64_t times = (kind == CollectiveKind::kAllReduce ? 2 : 1) * (group_size - 1);
  return bytes / group_size * times + bytes % group_size * times / group_size;
}

}  // namespace sgd::comm
