// Compares two files of tensors.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "runtime/data/safetensors.h"

namespace sgd::ckpt {

// How a tensor of one file differs from that of the same name in another.
struct Difference {
  std::string name;
  enum class Kind { kOnlyInFirst, kOnlyInSecond, kType, kValues } kind = Kind::kValues;
  std::string types;              // of kType: "F32[2] and F32[3]"
  uint64_t elements = 0;          // of kValues: how many of `size` elements differ
  uint64_t size = 0;              // of kValues
  std::optional<double> by_most;  // of kValues of floats and integers: the largest absolute difference
};

// By name; empty where both have the same tensors with the same bits.
std::vector<Difference> Compare(const data::SafetensorsFile& first, const data::SafetensorsFile& second);

}  // namespace sgd::ckpt
