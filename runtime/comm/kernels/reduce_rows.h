// Reduces equally shaped rows of several sources tile by tile and stores the result to one or more
// targets.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "absl/types/span.h"
#include "runtime/comm/kernels/reduce_kernels.h"

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

// Intermediate tiles for up to `sources` sources, of few of which most are in use at a time: what is, fits a
// first-level cache.
class ReduceScratch {
 public:
  static constexpr uint64_t kElements = 1024;
  explicit ReduceScratch(uint32_t sources)
      : accumulators_(TreeAccumulators(sources, kTreeLeaves)), tiles_(new Tile[accumulators_ + kDirectSources]) {}

  std::byte* accumulator(uint32_t which) { return tiles_[which].bytes; }
  std::byte* packed(uint32_t which) { return tiles_[accumulators_ + which].bytes; }  // kDirectSources of them

 private:
  struct alignas(64) Tile {
    std::byte bytes[kElements * 8];
  };
  uint32_t accumulators_;
  std::unique_ptr<Tile[]> tiles_;
};

// target = the sources reduced in the order of reduction_tree.h, at least two, for every target; as many targets as
// sources at most, one where results are streamed. A target may be one of the sources where their row strides agree.
void ReduceRows(const RowReduction& reduction, absl::Span<const std::byte* const> sources,
                absl::Span<std::byte* const> targets, ReduceScratch& scratch);

}  // namespace sgd::comm
