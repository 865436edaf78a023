// Reduces equally shaped rows of several sources tile by tile and stores the result to one or more
// targets.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "absl/types/span.h"
#include "runtime/comm/reduce_kernels.h"

namespace sgd::comm {

// `rows` rows of `row_elements` contiguous elements; strides are bytes.
struct RowReduction {
  const ReduceKernel* kernel = nullptr;
  uint32_t element_size = 0;
  uint64_t rows = 0;
  uint64_t row_elements = 0;
  uint64_t source_row_stride = 0;
  uint64_t target_row_stride = 0;
  bool streams = false;  // results go past the caches, where rows are long
};

// Intermediate tiles, small enough for the first-level cache.
class ReduceScratch {
 public:
  static constexpr uint64_t kElements = 2048;
  ReduceScratch() : memory_(new Memory) {}

  std::byte* accumulators() { return memory_->accumulators; }
  std::byte* packed(int which) { return memory_->packed[which]; }

 private:
  struct alignas(64) Memory {
    std::byte accumulators[kElements * 8];
    std::byte packed[2][kElements * 8];
  };
  std::unique_ptr<Memory> memory_;
};

// target = sources[0] op sources[1] op ..., at least two sources, for every target. A target may be
// one of the sources where their row strides agree.
void ReduceRows(const RowReduction& reduction, absl::Span<const std::byte* const> sources,
                absl::Span<std::byte* const> targets, ReduceScratch& scratch);

}  // namespace sgd::comm
