// Checksums of a rank's shards, and whether their values are finite, in one pass.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "runtime/data/shard.h"

namespace sgd::guard {

struct TensorSum {
  uint64_t sum = 0;  // XXH3, 64 bits
  bool is_finite = true;

  bool operator==(const TensorSum&) const = default;
};

// The bytes of a shard that hold a tensor's elements: those of its padding may be anything.
class ShardBytes {
 public:
  explicit ShardBytes(const data::Shard& shard);

  // Of a shard's `bytes`, local_bytes() of them. At some 5 GB/s on one core of a server.
  TensorSum Sum(std::span<const std::byte> bytes) const;

 private:
  struct Run {
    uint64_t begin = 0;
    uint64_t bytes = 0;
  };

  artifact::ElementType element_;
  std::vector<Run> runs_;
};

// One number for several.
uint64_t CombinedSum(std::span<const uint64_t> sums);

}  // namespace sgd::guard
