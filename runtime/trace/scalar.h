// One number of any real element type, with its text: the shortest that reads back as the same value of
// that type.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "runtime/artifact/element_type.h"

namespace sgd::trace {

struct Scalar {
  artifact::ElementType element = artifact::ElementType::F32;
  double number = 0;    // floating-point types, exactly
  int64_t integer = 0;  // integers and booleans; u64 as its two's complement
};

// From the bytes of one element; of a complex one, which is two numbers, not-a-number.
Scalar ReadScalar(artifact::ElementType element, std::span<const std::byte> bytes);

// The value as a double, for averages.
double AsDouble(const Scalar& scalar);

// "0.1" for the f32 nearest to 0.1, "nan", "-inf", "7", "true".
std::string ScalarText(const Scalar& scalar);

// The same as a JSON value: not-a-number and infinities, which JSON does not have, are null.
std::string ScalarJson(const Scalar& scalar);

// A double's shortest text; null-safe JSON as above.
std::string NumberJson(double number);

}  // namespace sgd::trace
