// Recurses over dimensions; runs that are contiguous on both sides are copied at once.
#include "plugins/pjrt/strided_copy.h"

#include <cstring>

namespace sgd::pjrt {

std::vector<int64_t> StridesOf(std::span<const int64_t> dims, std::span<const int64_t> minor_to_major,
                               size_t element_bytes) {
  std::vector<int64_t> strides(dims.size());
  int64_t stride = static_cast<int64_t>(element_bytes);
  for (const int64_t dim : minor_to_major) {
    strides[dim] = stride;
    stride *= dims[dim];
  }
  return strides;
}

std::vector<int64_t> RowMajorStrides(std::span<const int64_t> dims, size_t element_bytes) {
  std::vector<int64_t> minor_to_major;
  for (size_t dim = dims.size(); dim-- > 0;) minor_to_major.push_back(static_cast<int64_t>(dim));
  return StridesOf(dims, minor_to_major, element_bytes);
}

void CopyStrided(std::span<const int64_t> dims, size_t element_bytes, const std::byte* source,
                 std::span<const int64_t> source_strides, std::byte* target, std::span<const int64_t> target_strides) {
  size_t run = element_bytes;
  while (!dims.empty() && source_strides.back() == static_cast<int64_t>(run) &&
         target_strides.back() == static_cast<int64_t>(run)) {
    run *= dims.back();
    const size_t left = dims.size() - 1;
    dims = dims.first(left);
    source_strides = source_strides.first(left);
    target_strides = target_strides.first(left);
  }
  if (dims.empty()) {
    std::memcpy(target, source, run);
    return;
  }
  for (int64_t index = 0; index < dims[0]; ++index) {
    const std::byte* from = source + index * source_strides[0];
    std::byte* to = target + index * target_strides[0];
    if (dims.size() == 1)
      std::memcpy(to, from, run);
    else
      CopyStrided(dims.subspan(1), run, from, source_strides.subspan(1), to, target_strides.subspan(1));
  }
}

}  // namespace sgd::pjrt
