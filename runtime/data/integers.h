// Integers of a file as those of another width that a program reads, where every value fits.
#pragma once

#include <cstddef>
#include <cstdint>

#include "absl/status/status.h"
#include "runtime/data/feed.h"
#include "runtime/data/safetensors.h"

namespace sgd::data {

// Whether both are integers, of different types.
bool AreOtherIntegers(ElementType from, ElementType to);

// InvalidArgument, with file, tensor, index and value, for a value that `input` cannot hold. Reads the whole entry.
absl::Status CheckFits(const SafetensorsFile& file, const TensorEntry& entry, const InputType& input);

// Copies `count` elements, all of which fit.
void ConvertIntegers(ElementType from, const std::byte* source, ElementType to, std::byte* target, uint64_t count);

}  // namespace sgd::data
