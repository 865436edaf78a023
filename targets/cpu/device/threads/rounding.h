// Quotients and multiples of sizes, rounded up.
#pragma once

#include <cstdint>

namespace sgd::cpu {

constexpr uint64_t CeilDivide(uint64_t value, uint64_t divisor) { return (value + divisor - 1) / divisor; }

// The next multiple of `step`; `value` itself if it is one.
constexpr uint64_t RoundUp(uint64_t value, uint64_t step) { return CeilDivide(value, step) * step; }

}  // namespace sgd::cpu
