// Copies between arrays of one shape whose elements are in different orders.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace sgd::pjrt {

// Bytes between neighbours of each dimension in a dense row-major array.
std::vector<int64_t> RowMajorStrides(std::span<const int64_t> dims, size_t element_bytes);
// The same of a dense array whose dimensions vary in the order `minor_to_major`, the fastest first.
std::vector<int64_t> StridesOf(std::span<const int64_t> dims, std::span<const int64_t> minor_to_major,
                               size_t element_bytes);

// Copies all elements of an array. Strides are in bytes, and may be 0 or negative in the source.
void CopyStrided(std::span<const int64_t> dims, size_t element_bytes, const std::byte* source,
                 std::span<const int64_t> source_strides, std::byte* target, std::span<const int64_t> target_strides);

}  // namespace sgd::pjrt
