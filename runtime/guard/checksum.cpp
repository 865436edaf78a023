// Blocks that fit the first cache are hashed and then looked at.
#include "runtime/guard/checksum.h"

#include <algorithm>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "runtime/guard/values.h"

namespace sgd::guard {
namespace {

constexpr uint64_t kBlock = 16 << 10;

}  // namespace

ShardBytes::ShardBytes(const data::Shard& shard) : element_(shard.type().element) {
  if (shard.local_bytes() == 0) return;
  if (!shard.has_padding()) {
    runs_.push_back({0, shard.local_bytes()});
    return;
  }
  shard.ForEachRun([&](uint64_t, uint64_t begin, uint64_t bytes) {
    if (!runs_.empty() && runs_.back().begin + runs_.back().bytes == begin) {
      runs_.back().bytes += bytes;
    } else {
      runs_.push_back({begin, bytes});
    }
  });
}

TensorSum ShardBytes::Sum(std::span<const std::byte> bytes) const {
  XXH3_state_t state;
  XXH3_64bits_reset(&state);
  bool is_finite = true;
  for (const Run& run : runs_) {
    for (uint64_t done = 0; done < run.bytes; done += kBlock) {
      const std::span<const std::byte> block = bytes.subspan(run.begin + done, std::min(kBlock, run.bytes - done));
      XXH3_64bits_update(&state, block.data(), block.size());
      is_finite = is_finite && KindsOf(element_, block).is_finite();
    }
  }
  return {XXH3_64bits_digest(&state), is_finite};
}

uint64_t CombinedSum(std::span<const uint64_t> sums) { return XXH3_64bits(sums.data(), sums.size_bytes()); }

}  // namespace sgd::guard
