// Payload bytes that a rank sends in one collective, by the ring rule; shared by the compiler's
// report and the runtime's counter. Depends on nothing, so that both halves count with the very
// same function.
#pragma once

#include <cstdint>

#include "runtime/comm/collectives/collective_kind.h"

namespace sgd::comm {

// Whether the bytes of results count rather than those of operands.
constexpr bool CountsResults(CollectiveKind kind) { return TraitsOf(kind).target == TargetForm::kGathered; }

// `bytes` of one rank, summed over the operands of a bucket before this is called: what CountsResults says, but of
// ranges what the most loaded rank sends (AddSentBytes of tile_range.h).
// Exact where the division is, else rounded down; cannot overflow unless the result does. A group
// of one rank sends nothing. A permute counts what the most loaded rank sends, that is `bytes`,
// whichever ranks send to themselves.
constexpr uint64_t SentBytes(CollectiveKind kind, uint64_t group_size, uint64_t bytes) {
  if (group_size <= 1) return 0;
  const uint64_t passes = TraitsOf(kind).ring_passes;
  if (passes == 0) return bytes;
  const uint64_t times = passes * (group_size - 1);
  return bytes / group_size * times + bytes % group_size * times / group_size;
}

}  // namespace sgd::comm
