// Whether floating-point values are numbers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

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

// "nan", "infinity" or "nan and infinity"; "finite values" where it has neither.
const char* KindsText(const ValueKinds& kinds);

}  // namespace sgd::guard
