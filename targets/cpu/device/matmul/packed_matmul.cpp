// Blocks of B stay in the second level of cache while blocks of A pass by, and panels of B in the first one while
// panels of A do.
#include "targets/cpu/device/matmul/packed_matmul.h"

#include <algorithm>

#include "runtime/artifact/element_type.h"
#include "targets/cpu/device/matmul/packed_blocks.h"
#include "targets/cpu/device/threads/rounding.h"

namespace sgd::cpu {
namespace {

using library::EpilogueStep;

// Bytes of a packed block of either operand: both and what passes by fit into 1 MiB of cache.
constexpr uint64_t kRowBlockBytes = uint64_t{1} << 18, kColumnBlockBytes = uint64_t{1} << 19;
// Accumulators that are not in C's own form are in a tile of at most these sides.
constexpr uint64_t kStagedRows = 256, kStagedColumns = 256;
// B is packed where it is read at least so often.
constexpr uint64_t kRowsOfPackedBlock = 300;

// Rows and columns of the blocks that A and B are packed in.
struct Blocks {
  Blocks(const PackedKernels& kernels, const StridedMatmul& p) {
    depth = BlockDepth(kernels, p.k);
    const uint64_t panels = std::max<uint64_t>(kRowBlockBytes / RowPanelBytes(kernels, depth), 1);
    panel_rows = PanelRows(kernels, p.a_m, p.a_k, p.n);
    row_blocks = std::max<uint64_t>(CeilDivide(p.m, panels * panel_rows), 1);
    columns = std::max<uint64_t>(kColumnBlockBytes / ColumnPanelBytes(kernels, depth), 1) * kernels.panel_columns;
    column_bytes = ColumnPanelCount(kernels, std::min(p.n, columns)) * ColumnPanelBytes(kernels, depth);
  }
  uint64_t depth, panel_rows, row_blocks, columns;
  uint64_t column_bytes;  // of the largest packed block
};

// Of both blocks, for any matmul of at most these sizes.
uint64_t MostBlockBytes(const PackedKernels& kernels, uint64_t m, uint64_t n, uint64_t k) {
  const uint64_t depth = std::min(k, MostBlockDepth(kernels));
  const uint64_t row_panel = RowPanelBytes(kernels, depth), column_panel = ColumnPanelBytes(kernels, depth);
  return std::min(CeilDivide(m, PanelRows(kernels, 0, 1, 1)) * row_panel, std::max(kRowBlockBytes, row_panel)) +
         std::min(ColumnPanelCount(kernels, n) * column_panel, std::max(kColumnBlockBytes, column_panel));
}

// A matmul that accumulates in C.
class DirectMatmul {
 public:
  DirectMatmul(const PackedKernels& kernels, const StridedMatmul& matmul, std::byte* scratch)
      : kernels_(kernels),
        p_(matmul),
        blocks_(kernels, matmul),
        size_(artifact::ElementSize(matmul.element)),
        packed_b_(scratch),
        packed_a_(scratch + blocks_.column_bytes) {}

  void Run() {
    uint64_t k = 0;
    do {
      depth_ = std::min(blocks_.depth, p_.k - k);
      for (uint64_t column = 0; column < p_.n; column += blocks_.columns) MultiplyColumns(k, column);
      k += blocks_.depth;
    } while (k < p_.k);
  }

 private:
  void MultiplyColumns(uint64_t k, uint64_t column) {
    BlockMatmul block;
    block.kernels = &kernels_;
    block.k = depth_;
    block.b = ColumnsAt(k, column);
    block.c_m = p_.c_m;
    block.adds = k > 0 || p_.epilogue.Has(EpilogueStep::kResidual);
    const bool is_last = k + depth_ == p_.k;
    block.relu = is_last && p_.epilogue.Has(EpilogueStep::kRelu);
    const bool has_bias = is_last && p_.epilogue.Has(EpilogueStep::kBias);
    if (has_bias && !p_.bias_per_row) block.column_bias = p_.bias + column * kernels_.accumulator_size;
    for (uint64_t part = 0; part < blocks_.row_blocks; ++part) {
      const IndexRange rows = PartOf(p_.m, blocks_.row_blocks, part);
      if (rows.begin == rows.end) continue;
      block.a = RowsAt(k, rows);
      block.c = p_.c + (static_cast<int64_t>(rows.begin) * p_.c_m + static_cast<int64_t>(column)) *
                           static_cast<int64_t>(kernels_.accumulator_size);
      if (has_bias && p_.bias_per_row) block.row_bias = p_.bias + rows.begin * kernels_.accumulator_size;
      MultiplyBlock(block, {0, block.a.count}, {0, block.b.count}, block.a.direct > 0);
    }
  }

  Panels ColumnsAt(uint64_t k, uint64_t column) {
    Panels b;
    b.length = std::min(blocks_.columns, p_.n - column);
    b.count = ColumnPanelCount(kernels_, b.length);
    b.base = p_.b + (static_cast<int64_t>(k) * p_.b_k + static_cast<int64_t>(column) * p_.b_n) * Size();
    b.along_k = p_.b_k, b.across = p_.b_n;
    const bool is_direct = kernels_.is_direct && p_.b_n == 1 && p_.m < kRowsOfPackedBlock;
    b.direct = is_direct ? b.length / kernels_.panel_columns : 0;
    b.packed = packed_b_, b.first = b.direct;
    b.packed_bytes = ColumnPanelBytes(kernels_, depth_);
    PackColumns(kernels_, {b.base, b.along_k, b.across, size_, b.length}, depth_, {b.direct, b.count}, packed_b_);
    return b;
  }

  Panels RowsAt(uint64_t k, IndexRange rows) {
    Panels a;
    a.length = rows.end - rows.begin;
    a.count = CeilDivide(a.length, blocks_.panel_rows);
    a.base = p_.a + (static_cast<int64_t>(rows.begin) * p_.a_m + static_cast<int64_t>(k) * p_.a_k) * Size();
    a.along_k = p_.a_k, a.across = p_.a_m;
    a.direct = kernels_.is_direct && ReadsRowsDirectly(p_.a_m, p_.a_k, size_, p_.n) ? a.count : 0;
    a.packed = packed_a_, a.first = a.direct;
    a.packed_bytes = RowPanelBytes(kernels_, depth_);
    PackRows(kernels_, {a.base, a.along_k, a.across, size_, a.length}, depth_, a.count, {a.direct, a.count}, packed_a_);
    return a;
  }

  int64_t Size() const { return static_cast<int64_t>(size_); }

  const PackedKernels& kernels_;
  const StridedMatmul& p_;
  const Blocks blocks_;
  const uint64_t size_;
  std::byte* const packed_b_;
  std::byte* const packed_a_;
  uint64_t depth_ = 0;
};

bool IsStaged(const PackedKernels& kernels, const StridedMatmul& matmul) {
  const bool is_accumulator = kernels.is_direct || matmul.writes_accumulators;
  return !is_accumulator || matmul.c_n != 1 || (matmul.epilogue.Has(EpilogueStep::kRelu) && !kernels.has_relu);
}

// Accumulates a part of C in scratch memory, then finishes it into C.
void MultiplyStaged(const PackedKernels& kernels, const StridedMatmul& matmul, IndexRange rows, IndexRange columns,
                    std::byte* scratch) {
  const int64_t size = static_cast<int64_t>(artifact::ElementSize(matmul.element));
  const int64_t c_size = matmul.writes_accumulators ? static_cast<int64_t>(kernels.accumulator_size) : size;
  const int64_t row = static_cast<int64_t>(rows.begin), column = static_cast<int64_t>(columns.begin);
  StridedMatmul accumulated = matmul;
  accumulated.epilogue = {};
  accumulated.m = rows.end - rows.begin, accumulated.n = columns.end - columns.begin;
  accumulated.a += row * matmul.a_m * size;
  accumulated.b += column * matmul.b_n * size;
  accumulated.c = scratch;
  accumulated.c_m = kStagedColumns, accumulated.c_n = 1;
  DirectMatmul(kernels, accumulated, scratch + kStagedRows * kStagedColumns * kernels.accumulator_size).Run();
  FinishedTile tile{};
  tile.accumulators = scratch;
  tile.accumulators_stride = kStagedColumns;
  tile.rows = accumulated.m, tile.columns = accumulated.n;
  tile.c = matmul.c + (row * matmul.c_m + column * matmul.c_n) * c_size;
  tile.c_m = matmul.c_m, tile.c_n = matmul.c_n;
  tile.adds = matmul.epilogue.Has(EpilogueStep::kResidual);
  if (matmul.epilogue.Has(EpilogueStep::kBias)) {
    (matmul.bias_per_row ? tile.row_bias : tile.column_bias) =
        matmul.bias + (matmul.bias_per_row ? row : column) * c_size;
  }
  tile.relu = matmul.epilogue.Has(EpilogueStep::kRelu);
  (matmul.writes_accumulators ? kernels.finish_as_accumulators : kernels.finish)(tile);
}

}  // namespace

uint64_t PackedScratchBytes(const PackedKernels& kernels, uint64_t m, uint64_t n, uint64_t k) {
  const uint64_t accumulator_bytes = kStagedRows * kStagedColumns * kernels.accumulator_size;
  const uint64_t staged =
      accumulator_bytes + MostBlockBytes(kernels, std::min(m, kStagedRows), std::min(n, kStagedColumns), k);
  return RoundUp(std::max(staged, MostBlockBytes(kernels, m, n, k)), 64);
}

void PackedMultiply(const PackedKernels& kernels, const StridedMatmul& matmul, std::byte* scratch) {
  if (matmul.m == 0 || matmul.n == 0) return;
  if (!IsStaged(kernels, matmul)) {
    DirectMatmul(kernels, matmul, scratch).Run();
    return;
  }
  for (uint64_t row = 0; row < matmul.m; row += kStagedRows) {
    for (uint64_t column = 0; column < matmul.n; column += kStagedColumns) {
      MultiplyStaged(kernels, matmul, {row, std::min(row + kStagedRows, matmul.m)},
                     {column, std::min(column + kStagedColumns, matmul.n)}, scratch);
    }
  }
}

}  // namespace sgd::cpu
