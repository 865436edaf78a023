// Rows that touch each other are joined when a region is added, so that what has no gaps is one row.
#include "runtime/comm/kernels/packed_message.h"

#include <algorithm>
#include <cstring>

namespace sgd::comm {
namespace {

PackedRegion Joined(PackedRegion region) {
  if (region.rows == 1 || region.row_stride == region.row_bytes) {
    region.row_bytes *= region.rows;
    region.rows = 1;
    region.row_stride = region.row_bytes;
    if (region.blocks > 1) {
      // Blocks of one row are rows.
      region.rows = region.blocks;
      region.row_stride = region.block_stride;
      region.blocks = 1;
      if (region.row_stride == region.row_bytes) {
        region.row_bytes *= region.rows;
        region.rows = 1;
      }
    }
  }
  return region;
}

}  // namespace

PackedRegion SourceRegion(const StridedCopy& copy, uint64_t offset) {
  return {offset, copy.blocks, copy.source_block_stride, copy.rows, copy.source_row_stride, copy.row_bytes};
}

PackedRegion TargetRegion(const StridedCopy& copy, uint64_t offset) {
  return {offset, copy.blocks, copy.target_block_stride, copy.rows, copy.target_row_stride, copy.row_bytes};
}

void PackedMessage::Add(const PackedRegion& region) {
  if (region.bytes() == 0) return;
  regions_.push_back(Joined(region));
  starts_.push_back(bytes_);
  bytes_ += region.bytes();
}

// Calls visit(offset in the window, position in the run, bytes) for the rows, or parts of rows, of a range.
template <class Visit>
void PackedMessage::ForEachRow(uint64_t begin, uint64_t end, Visit visit) const {
  size_t index = static_cast<size_t>(std::ranges::upper_bound(starts_, begin) - starts_.begin());
  for (uint64_t at = begin; at < end;) {
    const PackedRegion& region = regions_[index - 1];
    const uint64_t region_end = std::min(end, starts_[index - 1] + region.bytes());
    while (at < region_end) {
      const uint64_t inside = at - starts_[index - 1], row = inside / region.row_bytes,
                     skip = inside % region.row_bytes;
      const uint64_t count = std::min(region.row_bytes - skip, region_end - at);
      visit(region.offset + row / region.rows * region.block_stride + row % region.rows * region.row_stride + skip, at,
            count);
      at += count;
    }
    ++index;
  }
}

std::byte* PackedMessage::Find(std::byte* window, uint64_t begin, uint64_t end) const {
  if (begin >= end) return window;
  const size_t index = static_cast<size_t>(std::ranges::upper_bound(starts_, begin) - starts_.begin()) - 1;
  const PackedRegion& region = regions_[index];
  const uint64_t inside = begin - starts_[index], row = inside / region.row_bytes, skip = inside % region.row_bytes;
  if (skip + (end - begin) > region.row_bytes) return nullptr;
  return window + region.offset + row / region.rows * region.block_stride + row % region.rows * region.row_stride +
         skip;
}

void PackedMessage::Pack(const std::byte* window, uint64_t begin, uint64_t end, std::byte* out) const {
  ForEachRow(begin, end, [&](uint64_t offset, uint64_t at, uint64_t count) {
    std::memcpy(out + (at - begin), window + offset, count);
  });
}

void PackedMessage::Unpack(const std::byte* in, uint64_t begin, uint64_t end, std::byte* window) const {
  ForEachRow(begin, end, [&](uint64_t offset, uint64_t at, uint64_t count) {
    std::memcpy(window + offset, in + (at - begin), count);
  });
}

}  // namespace sgd::comm
