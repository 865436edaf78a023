// Numbers of a file as the type that a program reads, where every value stays exactly what it is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "runtime/artifact/element_type.h"

namespace sgd::data {

using artifact::ElementType;

// Whether both are integers, of different types.
bool AreOtherIntegers(ElementType from, ElementType to);

// From elements of a file to those of an input: integers to integers and floats, floats of 16 to 64 bits to such
// floats, and each type to itself.
struct Conversion {
  ElementType from = ElementType::F32;
  ElementType to = ElementType::F32;
  unsigned narrow_bits = 0;  // 2 or 4: `to` holds integers of so many bits; 0: all bits count

  // Whether there is one at all.
  bool exists() const;
  // Whether elements are copied as they are, whatever their values.
  bool is_copy() const { return from == to && narrow_bits == 0; }
  // Whether there are values of `from` that `to` cannot hold.
  bool may_fail() const;
  // Completes "is 300; expected ": "-128 to 127", "a number that F32 holds exactly".
  std::string ExpectedText() const;
};

// Converts `count` elements. Returns the index of the first one that `to` cannot hold exactly; what is in `target` is
// then not specified.
std::optional<uint64_t> Convert(const Conversion& conversion, const std::byte* source, uint64_t count,
                                std::byte* target);

// The value of an element that Convert reads, for messages.
std::string ElementText(ElementType type, const std::byte* element);

}  // namespace sgd::data
