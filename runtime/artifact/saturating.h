// Sizes computed from numbers that a file gives: what does not fit into 64 bits becomes the largest number, which every
// limit refuses.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <limits>

namespace sgd::artifact {

inline constexpr uint64_t kSaturated = std::numeric_limits<uint64_t>::max();

constexpr uint64_t SaturatingSum(uint64_t a, uint64_t b) { return a > kSaturated - b ? kSaturated : a + b; }

constexpr uint64_t SaturatingProduct(std::initializer_list<uint64_t> factors) {
  uint64_t product = 1;
  for (uint64_t factor : factors) {
    if (factor == 0) return 0;
  }
  for (uint64_t factor : factors) {
    if (product > kSaturated / factor) return kSaturated;
    product *= factor;
  }
  return product;
}

}  // namespace sgd::artifact
