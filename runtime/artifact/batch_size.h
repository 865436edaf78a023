// Rows and tokens of a step, by the inputs that data fills.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "runtime/artifact/element_type.h"

namespace sgd::artifact {

struct BatchSize {
  std::optional<uint64_t> rows;    // of the first input with dimensions
  std::optional<uint64_t> tokens;  // elements of the first matrix of integers

  // The next input, of global dimensions.
  void Add(ElementType element, std::span<const uint64_t> dims) {
    if (dims.empty()) return;
    if (!rows) rows = dims[0];
    const bool is_integer = !IsFloat(element) && element != ElementType::Bool && element != ElementType::C64;
    if (!tokens && is_integer && dims.size() == 2) tokens = dims[0] * dims[1];
  }
};

}  // namespace sgd::artifact
