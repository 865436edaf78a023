// Elements of narrow floating-point types as the doubles compute with them.
#pragma once

#include <bit>
#include <cstdint>
#include <type_traits>

namespace sgd::emulated {

struct Bf16 {
  uint16_t bits;
};

template <typename T>
auto Load(const T& value) {
  if constexpr (std::is_same_v<T, Bf16>) {
    return std::bit_cast<float>(uint32_t{value.bits} << 16);
  } else if constexpr (std::is_same_v<T, _Float16>) {
    return static_cast<float>(value);
  } else {
    return value;
  }
}

// To the nearest, ties to even; NaN stays one.
template <typename T, typename Sum>
T Store(Sum value) {
  if constexpr (std::is_same_v<T, Bf16>) {
    const uint32_t bits = std::bit_cast<uint32_t>(value);
    if ((bits & 0x7fffffff) > 0x7f800000) return Bf16{static_cast<uint16_t>(bits >> 16 | 0x40)};
    return Bf16{static_cast<uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16)};
  } else {
    return static_cast<T>(value);
  }
}

}  // namespace sgd::emulated
