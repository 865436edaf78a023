// Follows Goto and van de Geijn, Anatomy of High-Performance Matrix Multiplication (2008), and BLIS.
#include "targets/cpu/device/matmul/packed_blocks.h"

#include <algorithm>
#include <cstdlib>

#include "targets/cpu/device/threads/rounding.h"

namespace sgd::cpu {
namespace {

// Bytes of k, measured: half as many cost 2 % for reading C again, more bring nothing.
constexpr uint64_t kDepthBytes = 1536;
constexpr uint64_t kDepthStep = 16;
// k of contiguous rows or columns that are packed before those of the next k.
constexpr uint64_t kPackedTogether = 16;
// Addresses so far apart share a set of the first level of cache; rows that are read side by side must be at least so
// far from that.
constexpr uint64_t kSetBytes = 4096, kLeastDistance = 128;
// Packing A pays from so many columns on in any case.
constexpr uint64_t kColumnsOfPackedA = 129;

// Whether rows of A that are read side by side do not drive each other out of the first level of cache.
bool HasRowsApart(int64_t a_m, uint64_t size) {
  const uint64_t distance = static_cast<uint64_t>(std::abs(a_m)) * size % kSetBytes;
  return std::min(distance, kSetBytes - distance) >= kLeastDistance;
}

// Splits the pieces of the next block evenly over the calls, those below each other to the same one.
void SetAhead(BlockMatmul& block, MicroTile& tile) {
  tile.ahead = nullptr, tile.ahead_bytes = 0, tile.ahead_pieces = 0, tile.ahead_at_once = 0, tile.ahead_stride = 0;
  if (block.ahead.rows == 0 || block.k == 0) return;
  const uint64_t columns = CeilDivide(block.ahead.row_bytes, MicroTile::kAheadBytes);
  const uint64_t calls = std::max<uint64_t>(block.calls / columns, 1);
  const uint64_t call = block.call++;
  if (call / calls >= columns) return;
  const IndexRange rows = PartOf(block.ahead.rows, calls, call % calls);
  tile.ahead =
      block.ahead.base + static_cast<int64_t>(rows.begin) * block.ahead.stride + call / calls * MicroTile::kAheadBytes;
  tile.ahead_bytes = std::min(block.ahead.row_bytes, MicroTile::kAheadBytes);
  tile.ahead_pieces = rows.end - rows.begin;
  tile.ahead_at_once = CeilDivide(tile.ahead_pieces * MicroTile::kAheadDepth, block.k);
  tile.ahead_stride = block.ahead.stride;
}

// Everything but what depends on the panels.
MicroTile TileOf(const BlockMatmul& block) {
  MicroTile tile{};
  tile.k = block.k;
  tile.c_m = block.c_m;
  tile.adds = block.adds;
  tile.relu = block.relu;
  return tile;
}

void SetRows(const BlockMatmul& block, uint64_t panel, IndexRange rows, MicroTile& tile) {
  const int64_t size = static_cast<int64_t>(block.kernels->accumulator_size);
  if (panel < block.a.direct) {
    tile.a = block.a.base + static_cast<int64_t>(rows.begin) * block.a.across * size;
    tile.a_m = block.a.across, tile.a_k = block.a.along_k;
  } else {
    tile.a = block.a.packed + (panel - block.a.first) * block.a.packed_bytes;
    tile.a_m = 1, tile.a_k = static_cast<int64_t>(block.kernels->panel_rows);
  }
  if (block.row_bias != nullptr) tile.row_bias = block.row_bias + rows.begin * block.kernels->accumulator_size;
}

void SetColumns(const BlockMatmul& block, uint64_t panel, uint64_t column, MicroTile& tile) {
  const PackedKernels& kernels = *block.kernels;
  if (panel < block.b.direct) {
    const int64_t width = block.b.along_k, at = static_cast<int64_t>(column);
    const int64_t offset = block.b.block == 0 ? at : at / width * block.b.block + at % width;
    tile.b = block.b.base + offset * static_cast<int64_t>(kernels.accumulator_size);
    tile.b_k = block.b.along_k;
  } else {
    tile.b = block.b.packed + (panel - block.b.first) * block.b.packed_bytes;
    tile.b_k = static_cast<int64_t>(PackedWidth(kernels, block.b.length - column));
  }
  tile.columns = std::min(kernels.panel_columns, block.b.length - column);
  if (block.column_bias != nullptr) tile.column_bias = block.column_bias + column * kernels.accumulator_size;
}

// `tile` has its rows and columns.
void MultiplyPanels(BlockMatmul& block, IndexRange rows, uint64_t column, MicroTile& tile) {
  const PackedKernels& kernels = *block.kernels;
  tile.c = block.c + (static_cast<int64_t>(rows.begin) * block.c_m + static_cast<int64_t>(column)) *
                         static_cast<int64_t>(kernels.accumulator_size);
  if (block.ahead.row_bytes > 0) SetAhead(block, tile);
  kernels.multiply[rows.end - rows.begin - 1][tile.columns > kernels.vector](tile);
}

// Brings rows or columns `range` of some k near.
void PrefetchLines(const Operand& operand, uint64_t begin, uint64_t end, IndexRange range) {
  const int64_t size = static_cast<int64_t>(operand.element_size);
  const uint64_t bytes = (range.end - range.begin) * operand.element_size;
  for (uint64_t k = begin; k < end; ++k) {
    const std::byte* line =
        operand.base + (static_cast<int64_t>(k) * operand.along_k + static_cast<int64_t>(range.begin)) * size;
    for (uint64_t byte = 0; byte < bytes; byte += 64) __builtin_prefetch(line + byte);
  }
}

// `range_of(panel)`: its rows or columns; `width_of(range)`: elements of each k of a panel of those. Where rows or
// columns are contiguous, a few k of all panels come before the next ones, since short pieces at long strides are read
// slowly.
template <typename RangeOf, typename WidthOf>
void Pack(const PackedKernels& kernels, const Operand& operand, uint64_t k, IndexRange panels, std::byte* target,
          RangeOf range_of, WidthOf width_of) {
  const uint64_t step = operand.across == 1 ? kPackedTogether : std::max<uint64_t>(k, 1);
  const int64_t size = static_cast<int64_t>(operand.element_size);
  for (uint64_t first = 0; first < k; first += step) {
    const std::byte* base = operand.base + static_cast<int64_t>(first) * operand.along_k * size;
    std::byte* to = target;
    for (uint64_t panel = panels.begin; panel < panels.end; ++panel) {
      const IndexRange range = range_of(panel);
      const uint64_t width = width_of(range);
      if (operand.across == 1) PrefetchLines(operand, first + step, std::min(first + 2 * step, k), range);
      kernels.pack({base + static_cast<int64_t>(range.begin) * operand.across * size, operand.along_k, operand.across,
                    std::min(step, k - first), range.end - range.begin},
                   width, to + first * width * kernels.accumulator_size);
      to += k * width * kernels.accumulator_size;
    }
  }
}

// Without a next block, prefetches the rows of the next panel while this one's are multiplied.
void SetNextRows(BlockMatmul& block, uint64_t panel, uint64_t calls) {
  const Panels& a = block.a;
  if (block.has_own_ahead || a.along_k != 1) return;
  block.ahead = {};
  if (panel + 1 >= a.direct) return;
  const IndexRange rows = PartOf(a.length, a.count, panel + 1);
  const int64_t stride = a.across * static_cast<int64_t>(block.kernels->accumulator_size);
  block.ahead = {a.base + static_cast<int64_t>(rows.begin) * stride, rows.end - rows.begin,
                 block.k * block.kernels->accumulator_size, stride};
  block.calls = calls;
  block.call = 0;
}

}  // namespace

void MultiplyBlock(BlockMatmul& block, IndexRange rows, IndexRange columns, bool rows_first) {
  const uint64_t width = block.kernels->panel_columns;
  MicroTile tile = TileOf(block);
  if (rows_first) {
    for (uint64_t row = rows.begin; row < rows.end; ++row) {
      const IndexRange range = PartOf(block.a.length, block.a.count, row);
      SetNextRows(block, row, columns.end - columns.begin);
      SetRows(block, row, range, tile);
      for (uint64_t column = columns.begin; column < columns.end; ++column) {
        SetColumns(block, column, column * width, tile);
        MultiplyPanels(block, range, column * width, tile);
      }
    }
  } else {
    for (uint64_t column = columns.begin; column < columns.end; ++column) {
      SetColumns(block, column, column * width, tile);
      for (uint64_t row = rows.begin; row < rows.end; ++row) {
        const IndexRange range = PartOf(block.a.length, block.a.count, row);
        SetRows(block, row, range, tile);
        MultiplyPanels(block, range, column * width, tile);
      }
    }
  }
}

uint64_t PanelRows(const PackedKernels& kernels, int64_t a_m, int64_t a_k, uint64_t columns) {
  const bool is_alone = columns <= kernels.vector && a_k == 1 && !HasRowsApart(a_m, kernels.accumulator_size);
  return is_alone ? CeilDivide(kernels.rows, 2) : kernels.rows;
}

uint64_t ColumnPanelCount(const PackedKernels& kernels, uint64_t columns) {
  return CeilDivide(columns, kernels.panel_columns);
}

uint64_t PackedWidth(const PackedKernels& kernels, uint64_t columns) {
  return columns <= kernels.vector ? kernels.vector : kernels.panel_columns;
}

uint64_t RowPanelBytes(const PackedKernels& kernels, uint64_t k) {
  return k * kernels.panel_rows * kernels.accumulator_size;
}

uint64_t ColumnPanelBytes(const PackedKernels& kernels, uint64_t k) {
  return k * kernels.panel_columns * kernels.accumulator_size;
}

uint64_t MostBlockDepth(const PackedKernels& kernels) { return kDepthBytes / kernels.accumulator_size; }

uint64_t BlockDepth(const PackedKernels& kernels, uint64_t k) {
  const uint64_t most = MostBlockDepth(kernels);
  if (k <= most) return std::max<uint64_t>(k, 1);
  return CeilDivide(CeilDivide(k, CeilDivide(k, most)), kDepthStep) * kDepthStep;
}

bool ReadsRowsDirectly(int64_t a_m, int64_t a_k, uint64_t size, uint64_t columns) {
  const bool is_narrow = columns < kColumnsOfPackedA;
  if (a_k == 1) return is_narrow || HasRowsApart(a_m, size);
  return is_narrow && a_m == 1;
}

void PackRows(const PackedKernels& kernels, const Operand& a, uint64_t k, uint64_t count, IndexRange panels,
              std::byte* target) {
  const auto range_of = [&](uint64_t panel) {
    const IndexRange rows = PartOf(a.length, count, panel);
    // Rows behind the panel's do no harm, and whole vectors are quicker.
    const uint64_t readable = std::min(kernels.panel_rows, a.length - rows.begin);
    return IndexRange{rows.begin, a.across == 1 ? rows.begin + readable : rows.end};
  };
  Pack(kernels, a, k, panels, target, range_of, [&](IndexRange) { return kernels.panel_rows; });
}

void PackColumns(const PackedKernels& kernels, const Operand& b, uint64_t k, IndexRange panels, std::byte* target) {
  const auto range_of = [&](uint64_t panel) {
    const uint64_t column = panel * kernels.panel_columns;
    return IndexRange{column, std::min(column + kernels.panel_columns, b.length)};
  };
  Pack(kernels, b, k, panels, target, range_of,
       [&](IndexRange range) { return PackedWidth(kernels, range.end - range.begin); });
}

}  // namespace sgd::cpu
