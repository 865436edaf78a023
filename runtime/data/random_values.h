// Made-up inputs for benchmarks: the same global values on any number of ranks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "runtime/data/shard.h"

namespace sgd::data {

// Fills a rank's shard of the input at position `argument`. A floating-point element is uniform in
// [0.01, 0.1), from the seed, the argument and the element's global position: positive, since the
// value may be a variance, and far from overflow and denormals. Other types are zero, and so is
// padding.
void FillRandom(const Shard& shard, uint64_t seed, uint64_t argument, std::span<std::byte> local);

// The same for contiguous elements, the first of them at the global `position`.
void FillRandomRun(ElementType element, uint64_t seed, uint64_t argument, uint64_t position,
                   std::span<std::byte> elements);

}  // namespace sgd::data
