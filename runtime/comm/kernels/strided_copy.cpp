// Short rows are copied by loops of a constant size, which compile to moves; long ones by memcpy.
#include "runtime/comm/kernels/strided_copy.h"

#include <cstring>

#include "runtime/comm/kernels/stream_copy.h"

namespace sgd::comm {
namespace {

template <size_t kBytes>
void CopyShortRows(const StridedCopy& copy, const std::byte* source, std::byte* target) {
  for (uint64_t row = 0; row < copy.rows; ++row) {
    std::memcpy(target + row * copy.target_row_stride, source + row * copy.source_row_stride, kBytes);
  }
}

// Below this, the ends of rows, which share lines with others, cost more than is won.
constexpr uint64_t kLeastStreamedRow = 1024;

void CopyLongRow(const StridedCopy& copy, const std::byte* source, std::byte* target, uint64_t bytes) {
  if (copy.streams && bytes >= kLeastStreamedRow) {
    StreamCopy(target, source, bytes);
  } else {
    std::memcpy(target, source, bytes);
  }
}

void CopyRows(const StridedCopy& copy, const std::byte* source, std::byte* target) {
  const bool contiguous = copy.source_row_stride == copy.row_bytes && copy.target_row_stride == copy.row_bytes;
  if (contiguous) return CopyLongRow(copy, source, target, copy.rows * copy.row_bytes);
  switch (copy.row_bytes) {
    case 1:
      return CopyShortRows<1>(copy, source, target);
    case 2:
      return CopyShortRows<2>(copy, source, target);
    case 4:
      return CopyShortRows<4>(copy, source, target);
    case 8:
      return CopyShortRows<8>(copy, source, target);
    case 16:
      return CopyShortRows<16>(copy, source, target);
    case 32:
      return CopyShortRows<32>(copy, source, target);
  }
  for (uint64_t row = 0; row < copy.rows; ++row) {
    CopyLongRow(copy, source + row * copy.source_row_stride, target + row * copy.target_row_stride, copy.row_bytes);
  }
}

}  // namespace

void Copy(const StridedCopy& copy, const std::byte* source, std::byte* target) {
  if (copy.row_bytes == 0 || copy.rows == 0) return;
  for (uint64_t block = 0; block < copy.blocks; ++block) {
    CopyRows(copy, source + block * copy.source_block_stride, target + block * copy.target_block_stride);
  }
  if (copy.streams) FenceStreams();
}

}  // namespace sgd::comm
