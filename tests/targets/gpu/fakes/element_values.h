// Elements of narrow floating-point types as the fakes compute with them.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <type_traits>

namespace sgd::emulated {

struct Bf16 {
  uint16_t bits;
};
struct E4m3 {
  uint8_t bits;
};
struct E5m2 {
  uint8_t bits;
};

// Of a sign, an exponent with this bias and so many bits of mantissa; NaN where the rest is `least_nan` or more.
inline float LoadFloat8(uint8_t bits, int mantissa_bits, int bias, int least_nan) {
  const int magnitude = bits & 0x7f, exponent = magnitude >> mantissa_bits, one = 1 << mantissa_bits;
  const int mantissa = magnitude & (one - 1);
  float value = std::ldexp(static_cast<float>(exponent == 0 ? mantissa : one + mantissa),
                           std::max(exponent, 1) - bias - mantissa_bits);
  if (magnitude >= least_nan) value = NAN;
  return bits & 0x80 ? -value : value;
}

template <typename T>
auto Load(const T& value) {
  if constexpr (std::is_same_v<T, Bf16>) {
    return std::bit_cast<float>(uint32_t{value.bits} << 16);
  } else if constexpr (std::is_same_v<T, E4m3>) {
    return LoadFloat8(value.bits, 3, 7, 0x7f);
  } else if constexpr (std::is_same_v<T, E5m2>) {
    return (value.bits & 0x7f) == 0x7c ? (value.bits & 0x80 ? -HUGE_VALF : HUGE_VALF)
                                       : LoadFloat8(value.bits, 2, 15, 0x7d);
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
