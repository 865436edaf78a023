// Rows of a window that go between hosts as one run of bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "runtime/comm/kernels/strided_copy.h"

namespace sgd::comm {

// Evenly spaced rows of a window; distances are bytes.
struct PackedRegion {
  uint64_t offset = 0;  // of the first row
  uint64_t blocks = 1;
  uint64_t block_stride = 0;
  uint64_t rows = 1;
  uint64_t row_stride = 0;
  uint64_t row_bytes = 0;

  uint64_t bytes() const { return blocks * rows * row_bytes; }
};

// The bytes that a copy reads, and those that it writes, in the same order.
PackedRegion SourceRegion(const StridedCopy& copy, uint64_t offset);
PackedRegion TargetRegion(const StridedCopy& copy, uint64_t offset);

// Regions one after another. Ranges are of the run of bytes that they make.
class PackedMessage {
 public:
  void Add(const PackedRegion& region);
  uint64_t bytes() const { return bytes_; }

  // Where the range begins in the window if it lies in one row, else null.
  std::byte* Find(std::byte* window, uint64_t begin, uint64_t end) const;
  void Pack(const std::byte* window, uint64_t begin, uint64_t end, std::byte* out) const;
  void Unpack(const std::byte* in, uint64_t begin, uint64_t end, std::byte* window) const;

 private:
  template <class Visit>
  void ForEachRow(uint64_t begin, uint64_t end, Visit visit) const;

  std::vector<PackedRegion> regions_;
  std::vector<uint64_t> starts_;  // of regions, in the run
  uint64_t bytes_ = 0;
};

}  // namespace sgd::comm
