// Copies of evenly spaced rows: what gathers, exchanges, permutes and broadcasts consist of.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sgd::comm {

// `blocks` x `rows` rows of `row_bytes`; all distances are bytes.
struct StridedCopy {
  uint64_t blocks = 1;
  uint64_t source_block_stride = 0;
  uint64_t target_block_stride = 0;
  uint64_t rows = 1;
  uint64_t source_row_stride = 0;
  uint64_t target_row_stride = 0;
  uint64_t row_bytes = 0;
  bool streams = false;  // past the caches, where rows are long
};

// Source and target do not overlap.
void Copy(const StridedCopy& copy, const std::byte* source, std::byte* target);

}  // namespace sgd::comm
