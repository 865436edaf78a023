// Long rows are read in place; short ones are packed first, several to a tile, so that kernels
// always get long ranges.
#include "runtime/comm/kernels/reduce_rows.h"

#include <algorithm>
#include <cstring>

#include "runtime/comm/kernels/stream_copy.h"
#include "runtime/comm/kernels/strided_copy.h"

namespace sgd::comm {
namespace {

constexpr uint64_t kLine = 64;       // bytes
constexpr uint64_t kShortRow = 128;  // elements
// Elements of a long row between one turn from reading to writing and the next. Longer ones keep reads
// from running beside the writes (reduce-scatter of 64 MiB over two ranks on a Zen 5: 512 elements 1.8
// ms, 2048 2.0 ms, 8192 2.7 ms), shorter ones win nothing.
constexpr uint64_t kTile = 512;

// Reduces `count` elements to the returned tile. `source(position, which)` returns those of one position, with `which`
// counting the positions that are read at once.
template <class Source>
[[gnu::always_inline]] inline const std::byte* ReduceTile(const ReduceKernel& kernel, uint32_t n, uint64_t count,
                                                          ReduceScratch& scratch, Source source) {
  // Where accumulators are elements, kernels of targets reduce more sources at once.
  const bool is_wide = kernel.finish == nullptr && kernel.direct[kDirectSources - 1] != nullptr;
  const auto reduce = [&](uint32_t first, uint32_t leaves, uint32_t which) {
    const std::byte* sources[kDirectSources];
    std::byte* const accumulator = scratch.accumulator(which);
    for (uint32_t i = 0; i < leaves; ++i) sources[i] = source(first + i, i);
    if (leaves > kTreeLeaves) {
      kernel.direct[leaves - 1](sources, &accumulator, 1, count);
    } else {
      kernel.leaves[leaves - 1](sources, accumulator, count);
    }
  };
  const auto join = [&](uint32_t left) {
    kernel.join(scratch.accumulator(left), scratch.accumulator(left + 1), count);
  };
  WalkReductionTree(n, is_wide ? kDirectSources : kTreeLeaves, reduce, join);
  if (kernel.finish == nullptr) return scratch.accumulator(0);
  kernel.finish(scratch.accumulator(0), scratch.packed(0), count);  // nothing is packed any more
  return scratch.packed(0);
}

void ReduceInTiles(const RowReduction& reduction, absl::Span<const std::byte* const> sources, uint64_t from,
                   absl::Span<std::byte* const> targets, uint64_t to, uint64_t elements, ReduceScratch& scratch) {
  for (uint64_t begin = 0; begin < elements; begin += kTile) {
    const uint64_t count = std::min(kTile, elements - begin), offset = begin * reduction.element_size;
    const std::byte* result =
        ReduceTile(*reduction.kernel, static_cast<uint32_t>(sources.size()), count, scratch,
                   [&](uint32_t position, uint32_t) { return sources[position] + from + offset; });
    for (std::byte* target : targets) {
      if (reduction.streams) {
        StreamCopy(target + to + offset, result, count * reduction.element_size);
      } else {
        std::memcpy(target + to + offset, result, count * reduction.element_size);
      }
    }
  }
}

void ReduceLongRow(const RowReduction& reduction, uint64_t row, absl::Span<const std::byte* const> sources,
                   absl::Span<std::byte* const> targets, ReduceScratch& scratch) {
  const uint64_t from = row * reduction.source_row_stride, to = row * reduction.target_row_stride;
  const size_t index = std::min<size_t>(sources.size(), kDirectSources) - 1;
  const ReduceKernel::Direct direct =
      reduction.streams ? reduction.kernel->streamed[index] : reduction.kernel->direct[index];
  if (sources.size() > kDirectSources || direct == nullptr) {
    return ReduceInTiles(reduction, sources, from, targets, to, reduction.row_elements, scratch);
  }
  // Streamed rows have one target; what is before its first whole line is not streamed.
  uint64_t head = 0;
  if (reduction.streams) {
    const uint64_t past_line = reinterpret_cast<uintptr_t>(targets[0] + to) % kLine;
    head = std::min(reduction.row_elements, (kLine - past_line) % kLine / reduction.element_size);
    ReduceInTiles(reduction, sources, from, targets, to, head, scratch);
  }
  const std::byte* rest[kDirectSources];
  std::byte* rest_targets[kDirectSources];
  for (size_t i = 0; i < sources.size(); ++i) rest[i] = sources[i] + from + head * reduction.element_size;
  for (size_t i = 0; i < targets.size(); ++i) rest_targets[i] = targets[i] + to + head * reduction.element_size;
  direct(rest, rest_targets, targets.size(), reduction.row_elements - head);
}

void ReduceShortRows(const RowReduction& reduction, absl::Span<const std::byte* const> sources,
                     absl::Span<std::byte* const> targets, ReduceScratch& scratch) {
  const uint64_t row_bytes = reduction.row_elements * reduction.element_size;
  const uint64_t tile_rows = ReduceScratch::kElements / reduction.row_elements;
  for (uint64_t row = 0; row < reduction.rows; row += tile_rows) {
    StridedCopy copy;
    copy.rows = std::min(tile_rows, reduction.rows - row);
    copy.row_bytes = row_bytes;
    copy.source_row_stride = reduction.source_row_stride;
    copy.target_row_stride = row_bytes;
    const uint64_t count = copy.rows * reduction.row_elements, from = row * reduction.source_row_stride;
    const std::byte* result = ReduceTile(*reduction.kernel, static_cast<uint32_t>(sources.size()), count, scratch,
                                         [&](uint32_t position, uint32_t which) {
                                           Copy(copy, sources[position] + from, scratch.packed(which));
                                           return scratch.packed(which);
                                         });
    copy.source_row_stride = row_bytes;
    copy.target_row_stride = reduction.target_row_stride;
    for (std::byte* target : targets) {
      Copy(copy, result, target + row * reduction.target_row_stride);
    }
  }
}

}  // namespace

void ReduceRows(const RowReduction& reduction, absl::Span<const std::byte* const> sources,
                absl::Span<std::byte* const> targets, ReduceScratch& scratch) {
  if (reduction.row_elements == 0) return;
  if (reduction.rows > 1 && reduction.row_elements < kShortRow) {
    ReduceShortRows(reduction, sources, targets, scratch);
    return;
  }
  for (uint64_t row = 0; row < reduction.rows; ++row) {
    ReduceLongRow(reduction, row, sources, targets, scratch);
  }
  if (reduction.streams) FenceStreams();
}

}  // namespace sgd::comm
