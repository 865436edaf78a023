// Whether floating-point values are numbers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "runtime/artifact/element_type.h"

namespace sgd::guard {

struct ValueKinds {
  bool has_nan = false;
  bool has_infinity = false;

  bool is_finite() const { return !has_nan && !has_infinity; }
};

// Of elements in memory order; complex numbers are pairs of f32. Other elements than floats are finite. Reads each byte
// once, some 16 at a time.
ValueKinds KindsOf(artifact::ElementType element, std::span<const std::byte> values);

// The position of the first element that is not finite.
std::optional<uint64_t> FirstNonFinite(artifact::ElementType element, std::span<const std::byte> values);

// Bytes of a part of a large tensor, of whole elements of any type, whose numbers take little memory.
inline constexpr size_t kPartBytes = size_t{1} << 18;

// The elements as numbers, exactly but for integers beyond 2^53; of a complex one its real and imaginary part.
std::vector<double> NumbersOf(artifact::ElementType element, std::span<const std::byte> values);

// "nan", "infinity" or "nan and infinity"; "finite values" where it has neither.
const char* KindsText(const ValueKinds& kinds);

}  // namespace sgd::guard
