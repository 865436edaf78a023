// The smaller operand is the shared one: a stripe of the other meets all of it, so every element of both is packed
// once.
#include "targets/cpu/device/matmul/shared_matmul.h"

#include <algorithm>

#include "runtime/artifact/element_type.h"
#include "runtime/library/packed_columns.h"
#include "targets/cpu/device/matmul/packed_blocks.h"
#include "targets/cpu/device/threads/rounding.h"

namespace sgd::cpu {
namespace {

using library::EpilogueStep;

// Of the packed shared operand: a part of the third level of cache.
constexpr uint64_t kSharedBytes = uint64_t{4} << 20;
// Of a packed stripe, for one block of k, and of the rows that pass by it: both fit into the second level.
constexpr uint64_t kStripeBytes = uint64_t{1} << 19, kRowStripeBytes = uint64_t{1} << 18;
// Stripes are cut into so many parts at least, where they stay this wide; for threads to share them evenly.
constexpr uint64_t kStripes = 16, kLeastColumns = 64, kLeastRows = 56;
// With fewer rows, B is read too seldom for packing it to pay.
constexpr uint64_t kRowsOfPackedStripe = 42;
constexpr uint32_t kPackJobsPerThread = 4;

struct Matrix {
  const std::byte* a;
  const std::byte* b;
  std::byte* c;
};

class SharedMatmul final : public device::Thunk {
 public:
  SharedMatmul(ThreadPool& pool, ThreadScratch& scratch, const PackedKernels& kernels, const MatmulProblem& problem)
      : pool_(pool), scratch_(scratch), kernels_(kernels), p_(problem), size_(artifact::ElementSize(problem.element)) {
    shares_a_ = p_.m <= p_.n;
    depth_ = BlockDepth(kernels, p_.k);
    depth_blocks_ = std::max<uint64_t>(CeilDivide(p_.k, depth_), 1);
    panel_rows_ = PanelRows(kernels, p_.a.rows, p_.a.columns, p_.n);
    row_panels_ = CeilDivide(p_.m, panel_rows_);
    column_panels_ = ColumnPanelCount(kernels, p_.n);
    const uint64_t block_bytes =
        shares_a_ ? row_panels_ * RowPanelBytes(kernels, depth_) : column_panels_ * ColumnPanelBytes(kernels, depth_);
    shared_block_bytes_ = block_bytes;
    blocks_at_once_ = std::clamp<uint64_t>(kSharedBytes / std::max<uint64_t>(block_bytes, 1), 1, depth_blocks_);
    CutStripes();
  }

  absl::Status Reserve() { return scratch_.Reserve(stripe_bytes_, blocks_at_once_ * shared_block_bytes_); }

  absl::Status Execute() override {
    for (uint64_t batch = 0; batch < p_.BatchCount(); ++batch) {
      matrix_ = MatrixAt(batch);
      for (first_block_ = 0; first_block_ < depth_blocks_; first_block_ += blocks_at_once_) {
        blocks_ = std::min(blocks_at_once_, depth_blocks_ - first_block_);
        PackShared();
        const uint32_t jobs = static_cast<uint32_t>(std::min<uint64_t>(stripes_, ThreadPool::kMaxChunks));
        pool_.Run(Active(jobs), jobs, [&](uint32_t job, uint32_t thread) {
          const IndexRange range = PartOf(stripes_, jobs, job);
          for (uint64_t stripe = range.begin; stripe < range.end; ++stripe) {
            MultiplyStripe(stripe, scratch_.For(thread));
            if (first_block_ + blocks_ == depth_blocks_) pool_.CountPart(thread);
          }
        });
      }
    }
    return absl::OkStatus();
  }

 private:
  void CutStripes() {
    if (shares_a_) {
      const uint64_t panel_bytes = ColumnPanelBytes(kernels_, depth_);
      const uint64_t least = CeilDivide(kLeastColumns, kernels_.panel_columns);
      stripe_panels_ =
          std::clamp(CeilDivide(column_panels_, kStripes), least, std::max(least, kStripeBytes / panel_bytes));
      stripes_ = CeilDivide(column_panels_, stripe_panels_);
      stripe_bytes_ = stripe_panels_ * panel_bytes;
      is_direct_ = kernels_.is_direct && p_.b.columns == 1 && (p_.m < kRowsOfPackedStripe || p_.b_block != 0);
    } else {
      const uint64_t panel_bytes = RowPanelBytes(kernels_, depth_);
      const uint64_t least = CeilDivide(kLeastRows, panel_rows_);
      stripe_panels_ =
          std::clamp(CeilDivide(row_panels_, kStripes), least, std::max(least, kRowStripeBytes / panel_bytes));
      stripes_ = CeilDivide(row_panels_, stripe_panels_);
      stripe_bytes_ = stripe_panels_ * panel_bytes;
      is_direct_ = kernels_.is_direct && ReadsRowsDirectly(p_.a.rows, p_.a.columns, size_, p_.n);
      const uint64_t column_block = std::max<uint64_t>(kStripeBytes / ColumnPanelBytes(kernels_, depth_), 1);
      column_block_panels_ = CeilDivide(column_panels_, CeilDivide(column_panels_, column_block));
    }
    const uint64_t row_block = std::max<uint64_t>(kRowStripeBytes / RowPanelBytes(kernels_, depth_), 1);
    row_block_panels_ = CeilDivide(row_panels_, CeilDivide(row_panels_, row_block));
  }

  uint32_t Active(uint64_t jobs) const { return static_cast<uint32_t>(std::min<uint64_t>(pool_.size(), jobs)); }

  Matrix MatrixAt(uint64_t index) const {
    int64_t a = 0, b = 0, c = 0;
    for (size_t dim = kMaxBatchDims; dim-- > 0;) {
      const int64_t at = static_cast<int64_t>(index % p_.batch[dim]);
      index /= p_.batch[dim];
      a += at * p_.a.batch[dim], b += at * p_.b.batch[dim], c += at * p_.c.batch[dim];
    }
    return {p_.a.base + a * Size(), p_.b.base + b * Size(), p_.c.base + c * Size()};
  }

  uint64_t DepthAt(uint64_t block) const { return std::min(depth_, p_.k - block * depth_); }

  Operand RowsAt(uint64_t block) const {
    const int64_t k = static_cast<int64_t>(block * depth_);
    return {matrix_.a + k * p_.a.columns * Size(), p_.a.columns, p_.a.rows, size_, p_.m};
  }
  Operand ColumnsAt(uint64_t block) const {
    const int64_t k = static_cast<int64_t>(block * depth_);
    return {matrix_.b + k * p_.b.rows * Size(), p_.b.rows, p_.b.columns, size_, p_.n};
  }

  // How the panels are dealt to threads has no influence on them.
  void PackShared() {
    const uint64_t panels = shares_a_ ? row_panels_ : column_panels_;
    const uint32_t active = Active(panels * blocks_);
    const uint64_t parts = std::min<uint64_t>(panels, CeilDivide(uint64_t{active} * kPackJobsPerThread, blocks_));
    pool_.Run(active, static_cast<uint32_t>(parts * blocks_), [&](uint32_t job, uint32_t) {
      const uint64_t block = job / parts;
      const IndexRange range = PartOf(panels, parts, job % parts);
      std::byte* target = scratch_.Shared() + block * shared_block_bytes_;
      const uint64_t depth = DepthAt(first_block_ + block);
      if (shares_a_) {
        PackRows(kernels_, RowsAt(first_block_ + block), depth, row_panels_, range,
                 target + range.begin * RowPanelBytes(kernels_, depth));
      } else {
        PackColumns(kernels_, ColumnsAt(first_block_ + block), depth, range,
                    target + range.begin * ColumnPanelBytes(kernels_, depth));
      }
    });
  }

  void MultiplyStripe(uint64_t stripe, std::byte* packed) {
    const uint64_t panels = shares_a_ ? column_panels_ : row_panels_;
    const IndexRange range{stripe * stripe_panels_, std::min((stripe + 1) * stripe_panels_, panels)};
    for (uint64_t i = 0; i < blocks_; ++i) {
      BlockMatmul block = BlockAt(i);
      if (shares_a_) {
        PackStripe(block.b, ColumnsAt(first_block_ + i), block.k, range, packed);
        block.ahead = AheadOf(i, range), block.has_own_ahead = true;
        block.calls = row_panels_ * (range.end - range.begin);
        for (uint64_t row = 0; row < row_panels_; row += row_block_panels_) {
          MultiplyBlock(block, {row, std::min(row + row_block_panels_, row_panels_)}, range, false);
        }
      } else {
        PackStripe(block.a, RowsAt(first_block_ + i), block.k, range, packed);
        block.ahead = AheadOf(i, range), block.has_own_ahead = true;
        block.calls = column_panels_ * (range.end - range.begin);
        const uint64_t step = is_direct_ ? column_block_panels_ : column_panels_;
        for (uint64_t column = 0; column < column_panels_; column += step) {
          MultiplyBlock(block, range, {column, std::min(column + step, column_panels_)}, is_direct_);
        }
      }
    }
  }

  // The matmul of packed block `i`, except for the panels of the stripe.
  BlockMatmul BlockAt(uint64_t i) const {
    const uint64_t depth = DepthAt(first_block_ + i);
    const bool is_last = first_block_ + i + 1 == depth_blocks_;
    BlockMatmul block;
    block.kernels = &kernels_;
    block.k = depth;
    block.a.count = row_panels_, block.a.length = p_.m;
    block.b.count = column_panels_, block.b.length = p_.n;
    block.a.packed_bytes = RowPanelBytes(kernels_, depth), block.b.packed_bytes = ColumnPanelBytes(kernels_, depth);
    (shares_a_ ? block.a : block.b).packed = scratch_.Shared() + i * shared_block_bytes_;
    block.c = matrix_.c;
    block.c_m = p_.c.rows;
    block.adds = first_block_ + i > 0 || p_.epilogue.Has(EpilogueStep::kResidual);
    if (is_last) (p_.bias_per_row ? block.row_bias : block.column_bias) = p_.bias;
    block.relu = is_last && p_.epilogue.Has(EpilogueStep::kRelu);
    return block;
  }

  // The block that is packed after block `i` of the stripe: its next block, or the next stripe's first one.
  Ahead AheadOf(uint64_t i, IndexRange range) const {
    Ahead ahead;
    if (i + 1 == blocks_) range = {range.end, range.end + stripe_panels_};
    const uint64_t block = first_block_ + (i + 1 == blocks_ ? 0 : i + 1);
    const Operand operand = shares_a_ ? ColumnsAt(block) : RowsAt(block);
    const uint64_t width = shares_a_ ? kernels_.panel_columns : panel_rows_;
    const uint64_t begin = std::min(range.begin * width, operand.length),
                   end = std::min(range.end * width, operand.length);
    if (begin == end) return ahead;
    const uint64_t depth = DepthAt(block);
    if (p_.b_block != 0) {
      const uint64_t columns = static_cast<uint64_t>(operand.along_k), first = begin / columns;
      return {operand.base + static_cast<int64_t>(first) * p_.b_block * Size(), CeilDivide(end, columns) - first,
              depth * columns * size_, p_.b_block * Size()};
    }
    ahead.base = operand.base + static_cast<int64_t>(begin) * operand.across * Size();
    if (operand.across == 1) {
      ahead.rows = depth, ahead.stride = operand.along_k * Size(), ahead.row_bytes = (end - begin) * size_;
    } else if (operand.along_k == 1) {
      ahead.rows = end - begin, ahead.stride = operand.across * Size(), ahead.row_bytes = depth * size_;
    }
    return ahead;
  }

  void PackStripe(Panels& panels, const Operand& operand, uint64_t depth, IndexRange range, std::byte* packed) const {
    if (is_direct_) {
      // The last panel of B may have columns that are not there.
      panels.direct = shares_a_ ? p_.n / kernels_.panel_columns : panels.count;
      panels.base = operand.base;
      panels.along_k = operand.along_k, panels.across = operand.across;
      if (shares_a_) panels.block = p_.b_block;
    }
    panels.first = std::clamp(panels.direct, range.begin, range.end);
    panels.packed = packed;
    const IndexRange rest{panels.first, range.end};
    if (shares_a_) {
      PackColumns(kernels_, operand, depth, rest, packed);
    } else {
      PackRows(kernels_, operand, depth, row_panels_, rest, packed);
    }
  }

  int64_t Size() const { return static_cast<int64_t>(size_); }

  ThreadPool& pool_;
  ThreadScratch& scratch_;
  const PackedKernels& kernels_;
  const MatmulProblem p_;
  const uint64_t size_;
  bool shares_a_ = false;
  bool is_direct_ = false;  // stripes are read in place
  uint64_t depth_ = 1, depth_blocks_ = 1, blocks_at_once_ = 1;
  uint64_t panel_rows_ = 1;  // at most
  uint64_t row_panels_ = 0, column_panels_ = 0;
  uint64_t row_block_panels_ = 1, column_block_panels_ = 1;
  uint64_t stripe_panels_ = 1, stripes_ = 0, stripe_bytes_ = 0;
  uint64_t shared_block_bytes_ = 0;
  // While executing: the matrix and the blocks of k whose shared operand is packed.
  Matrix matrix_{};
  uint64_t first_block_ = 0, blocks_ = 0;
};

}  // namespace

bool IsForSharedMatmul(const PackedKernels& kernels, const MatmulProblem& problem) {
  const bool accumulates_in_c =
      kernels.is_direct && problem.c.columns == 1 && (!problem.epilogue.Has(EpilogueStep::kRelu) || kernels.has_relu);
  // Blocks of columns are read in place, as stripes.
  const bool has_panels = problem.b_block == 0 || (problem.m <= problem.n && kernels.is_direct &&
                                                   problem.b.rows % static_cast<int64_t>(kernels.panel_columns) == 0);
  return accumulates_in_c && has_panels &&
         problem.m * problem.n * std::max<uint64_t>(problem.k, 1) >= library::kLeastSharedWork;
}

device::PreparedThunk MakeSharedMatmul(ThreadPool& pool, ThreadScratch& scratch, const PackedKernels& kernels,
                                       const MatmulProblem& problem) {
  auto thunk = std::make_unique<SharedMatmul>(pool, scratch, kernels, problem);
  if (absl::Status status = thunk->Reserve(); !status.ok()) return status;
  return thunk;
}

}  // namespace sgd::cpu
