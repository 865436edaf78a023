// The header of a .npy file, which it does not trust. Format: NumPy's NEP 1 (numpy.lib.format), versions 1 to 3: magic,
// the length of a Python dictionary with the keys descr, fortran_order and shape, that dictionary, then the elements.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "absl/status/statusor.h"
#include "runtime/data/safetensors.h"

namespace sgd::data {

// Whether a file with these first bytes says that it is one.
bool IsNpy(std::span<const std::byte> bytes);

// The one array of a file of `size` bytes that begins with `bytes`: as many of them as the header takes, kMostNpyHeader
// suffice. Its offset counts from the file's begin; it has no name. InvalidArgument, completing "FILE: ", for a header
// that is cut short or no dictionary of these keys, for types that programs do not have, arrays in Fortran order, and
// sizes other than the file's.
absl::StatusOr<TensorEntry> ReadNpyHeader(std::span<const std::byte> bytes, uint64_t size);

inline constexpr uint64_t kMostNpyHeader = (64 << 10) + 12;

}  // namespace sgd::data
