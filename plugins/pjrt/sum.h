// Sums of arrays.
#pragma once

#include <cstddef>
#include <span>

#include "absl/status/status.h"
#include "third_party/pjrt/pjrt_c_api.h"

namespace sgd::pjrt {

// Adds the elements of `from` to those of `to`, of the same number of bytes; floats below 32 bits are added in f32.
// Unimplemented for types that cannot be added.
absl::Status AddTo(PJRT_Buffer_Type type, std::span<const std::byte> from, std::span<std::byte> to);

}  // namespace sgd::pjrt
