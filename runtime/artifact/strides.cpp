// Reach of strided operands.
#include "runtime/artifact/strides.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace sgd::artifact {

absl::StatusOr<uint64_t> Extent(const std::vector<StridedDim>& dims, const std::string& what) {
  uint64_t extent = 1;
  bool is_empty = false;
  for (const StridedDim& dim : dims) {
    if (dim.stride < 0) return absl::InvalidArgumentError(absl::StrCat(what, " has a negative stride"));
    const uint64_t stride = static_cast<uint64_t>(dim.stride), steps = std::max<uint64_t>(dim.size, 1) - 1;
    if (stride > kMaxElements || steps >= kMaxElements || (stride != 0 && steps > (kMaxElements - extent) / stride)) {
      return absl::InvalidArgumentError(absl::StrCat(what, " has more than 2^48 elements"));
    }
    extent += steps * stride;
    is_empty = is_empty || dim.size == 0;
  }
  return is_empty ? 0 : extent;
}

bool IsInjective(std::vector<StridedDim> dims) {
  std::sort(dims.begin(), dims.end(), [](const StridedDim& a, const StridedDim& b) { return a.stride < b.stride; });
  uint64_t reach = 0;
  for (const StridedDim& dim : dims) {
    if (dim.size <= 1) continue;
    if (static_cast<uint64_t>(dim.stride) <= reach) return false;
    reach += (dim.size - 1) * static_cast<uint64_t>(dim.stride);
  }
  return true;
}

}  // namespace sgd::artifact
