// The extent of a strided operand, computed without overflow on untrusted numbers.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace sgd::artifact {

inline constexpr uint64_t kMaxElements = uint64_t{1} << 48;

// One dimension of a strided operand.
struct StridedDim {
  uint64_t size;
  int64_t stride;  // elements
};

// Elements from the first to the last one of a strided operand, both included; 0 for an empty one. InvalidArgument,
// beginning with `what`, for a negative stride or more than 2^48 elements, also of the extent of an empty one along its
// other dimensions and of strides that are unused: code that computes addresses from sizes and strides cannot
// overflow.
absl::StatusOr<uint64_t> Extent(const std::vector<StridedDim>& dims, const std::string& what);

// No two indices share an element: each stride steps over all that the smaller ones reach. The extent must be valid.
bool IsInjective(std::vector<StridedDim> dims);

}  // namespace sgd::artifact
