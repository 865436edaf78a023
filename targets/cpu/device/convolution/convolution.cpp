// As in shared_matmul.cpp, the smaller operand is packed once, by all threads together, and a stripe of the other meets
// all of it. Windows are packed in units of rows; the order of additions is that of the steps in any case.
#include "targets/cpu/device/convolution/convolution.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "runtime/artifact/element_type.h"
#include "targets/cpu/device/convolution/convolution_problem.h"
#include "targets/cpu/device/convolution/grouped_convolution.h"
#include "targets/cpu/device/matmul/packed_blocks.h"
#include "targets/cpu/device/threads/rounding.h"

namespace sgd::cpu {
namespace {

using library::EpilogueStep;

// Of the packed shared operand.
constexpr uint64_t kSharedBytes = uint64_t{16} << 20;
// Rows of a unit: of few, B is read too often; with their steps they are to fit into the second level of cache.
constexpr uint64_t kUnitRows = 56, kSharedUnitRows = 112, kLeastUnitRows = 28;
// So many units or stripes at least, where they stay large enough; for threads to share them evenly.
constexpr uint64_t kStripes = 16;
constexpr uint64_t kStripePanels = 4;
// With fewer rows, the kernel is read too seldom for packing it to pay.
constexpr uint64_t kRowsOfPackedFilter = 42;
// Groups of less work than this, in multiplications, are one thread's each.
constexpr uint64_t kGroupWork = uint64_t{1} << 23;
// Between the rows of windows, so that they fall into different sets of the first-level cache.
constexpr uint64_t kRowGapBytes = 64;
constexpr uint64_t kPackJobs = 8;

// Rows that are packed and multiplied together: `rows` of run `run` where the windows are packed by rows, otherwise of
// all rows.
struct Unit {
  uint64_t run = 0;
  IndexRange rows{};
  uint64_t Count() const { return rows.end - rows.begin; }
};

// The longest part of `steps` that is in one run of `size`; the first of them.
IndexRange LongestRun(IndexRange steps, uint64_t size) {
  const uint64_t border = (steps.begin / size + 1) * size;
  if (border >= steps.end) return steps;
  const uint64_t next = std::min(border + size, steps.end);
  return border - steps.begin >= next - border ? IndexRange{steps.begin, border} : IndexRange{border, next};
}

// The blocks of the sum whose shared operand is packed.
struct Blocks {
  uint64_t first = 0, count = 0;
};

// Addresses of a group's tensors and of the memory that it is computed in.
struct Group {
  const std::byte* lhs;
  const std::byte* rhs;
  std::byte* result;
  const std::byte* bias;
  std::byte* shared;
};

class ConvolutionThunk final : public device::Thunk {
 public:
  ConvolutionThunk(ThreadPool& pool, ThreadScratch& scratch, const PackedKernels& kernels,
                   const PackedKernels& accumulator_kernels, const ConvolutionProblem& problem)
      : pool_(pool),
        scratch_(scratch),
        kernels_(kernels),
        accumulator_kernels_(accumulator_kernels),
        p_(problem),
        windows_(p_.windows) {
    size_ = artifact::ElementSize(p_.element), accumulator_size_ = kernels.accumulator_size;
    depth_ = BlockDepth(kernels, p_.Depth());
    depth_blocks_ = std::max<uint64_t>(CeilDivide(p_.Depth(), depth_), 1);
    column_panels_ = ColumnPanelCount(kernels, p_.columns);
    shares_windows_ = p_.Rows() <= p_.columns;
    CutUnits();
    CutStripes();
    const int64_t uniform = windows_.is_by_rows ? windows_.rows.run.other : windows_.rows.UniformOther();
    row_stride_ = uniform;
    is_staged_ = uniform == 0 || p_.result_column != 1 || (p_.epilogue.Has(EpilogueStep::kRelu) && !kernels.has_relu);
    is_whole_group_ = p_.groups > 1 && p_.Rows() * p_.columns * std::max<uint64_t>(p_.Depth(), 1) < kGroupWork;
  }

  absl::Status Reserve() {
    const uint64_t block = shares_windows_ ? units_ * unit_bytes_ : column_panels_ * ColumnPanelBytes(kernels_, depth_);
    shared_block_bytes_ = RoundUp(block, 64);
    blocks_at_once_ = std::clamp<uint64_t>(kSharedBytes / std::max<uint64_t>(shared_block_bytes_, 1), 1, depth_blocks_);
    packed_bytes_ = RoundUp(shares_windows_ ? stripe_panels_ * ColumnPanelBytes(kernels_, depth_) : unit_bytes_, 64);
    stage_columns_ = (shares_windows_ ? stripe_panels_ : column_panels_) * kernels_.panel_columns;
    const uint64_t own =
        packed_bytes_ + (is_staged_ ? RoundUp(unit_rows_ * stage_columns_ * accumulator_size_, 64) : 0);
    const uint64_t shared = blocks_at_once_ * shared_block_bytes_;
    own_bytes_ = own;
    return is_whole_group_ ? scratch_.Reserve(own + shared) : scratch_.Reserve(own, shared);
  }

  absl::Status Execute() override {
    if (p_.groups == 0 || p_.Rows() == 0 || p_.columns == 0) return absl::OkStatus();
    if (is_whole_group_) {
      const uint32_t jobs = static_cast<uint32_t>(std::min<uint64_t>(p_.groups, ThreadPool::kMaxChunks));
      pool_.Run(Active(jobs), jobs, [&](uint32_t job, uint32_t thread) {
        const IndexRange range = PartOf(p_.groups, jobs, job);
        std::byte* own = scratch_.For(thread);
        for (uint64_t index = range.begin; index < range.end; ++index) {
          RunGroup(GroupAt(index, own + own_bytes_), [&](uint64_t count, auto body) {
            for (uint64_t i = 0; i < count; ++i) body(i, own, thread);
          });
        }
      });
      return absl::OkStatus();
    }
    for (uint64_t index = 0; index < p_.groups; ++index) {
      RunGroup(GroupAt(index, scratch_.Shared()), [&](uint64_t count, auto body) {
        const uint32_t jobs = static_cast<uint32_t>(std::min<uint64_t>(count, ThreadPool::kMaxChunks));
        pool_.Run(Active(jobs), jobs, [&](uint32_t job, uint32_t thread) {
          const IndexRange range = PartOf(count, jobs, job);
          for (uint64_t i = range.begin; i < range.end; ++i) body(i, scratch_.For(thread), thread);
        });
      });
    }
    return absl::OkStatus();
  }

 private:
  void CutUnits() {
    const uint64_t most = shares_windows_ ? kSharedUnitRows : kUnitRows;
    const uint64_t length = windows_.is_by_rows ? windows_.rows.run.size : p_.Rows();
    const uint64_t runs = windows_.is_by_rows ? windows_.rows.RunCount() : 1;
    const uint64_t wanted = shares_windows_ ? 1
                                            : std::min(CeilDivide(kStripes, std::max<uint64_t>(runs, 1)),
                                                       CeilDivide(length, kLeastUnitRows));
    units_per_run_ = std::max<uint64_t>({CeilDivide(length, most), wanted, 1});
    units_ = runs * units_per_run_;
    unit_rows_ = CeilDivide(length, units_per_run_);
    row_stride_packed_ = depth_ + kRowGapBytes / accumulator_size_;
    unit_bytes_ = RoundUp(windows_.is_by_rows ? PanelCount(unit_rows_) * RowPanelBytes(kernels_, depth_)
                                              : unit_rows_ * row_stride_packed_ * accumulator_size_,
                          64);
  }

  void CutStripes() {
    const int64_t along = windows_.steps.UniformOther();
    reads_rhs_ =
        shares_windows_ && kernels_.is_direct && p_.rhs_column == 1 && along != 0 && p_.Rows() < kRowsOfPackedFilter;
    rhs_stride_ = along;
    stripe_panels_ = std::clamp<uint64_t>(CeilDivide(column_panels_, kStripes), 1, kStripePanels);
    stripes_ = shares_windows_ ? CeilDivide(column_panels_, stripe_panels_) : units_;
  }

  uint64_t PanelCount(uint64_t rows) const { return CeilDivide(rows, kernels_.rows); }

  uint32_t Active(uint64_t jobs) const { return static_cast<uint32_t>(std::min<uint64_t>(pool_.size(), jobs)); }

  Unit UnitAt(uint64_t index) const {
    const uint64_t length = windows_.is_by_rows ? windows_.rows.run.size : p_.Rows();
    return {index / units_per_run_, PartOf(length, units_per_run_, index % units_per_run_)};
  }

  IndexRange StepsOf(uint64_t block) const { return {block * depth_, std::min((block + 1) * depth_, p_.Depth())}; }

  Group GroupAt(uint64_t index, std::byte* shared) const {
    const int64_t i = static_cast<int64_t>(index), size = static_cast<int64_t>(size_),
                  sum = static_cast<int64_t>(accumulator_size_);
    return {p_.lhs + i * p_.lhs_group * size, p_.rhs + i * p_.rhs_group * size, p_.result + i * p_.result_group * sum,
            p_.bias == nullptr ? nullptr : p_.bias + index * p_.columns * accumulator_size_, shared};
  }

  // `run_all(count, body)` calls body(i, a thread's own memory, its number) for all i below count.
  template <typename RunAll>
  void RunGroup(const Group& group, RunAll run_all) const {
    for (Blocks blocks; blocks.first < depth_blocks_; blocks.first += blocks_at_once_) {
      blocks.count = std::min(blocks_at_once_, depth_blocks_ - blocks.first);
      const uint64_t parts = shares_windows_ ? units_ : std::min(column_panels_, CeilDivide(kPackJobs, blocks.count));
      run_all(parts * blocks.count, [&](uint64_t job, std::byte*, uint32_t) { PackShared(group, blocks, parts, job); });
      const bool is_last = blocks.first + blocks.count == depth_blocks_;
      run_all(stripes_, [&](uint64_t stripe, std::byte* own, uint32_t thread) {
        if (shares_windows_) {
          MultiplyColumns(group, blocks, stripe, own);
        } else {
          MultiplyRows(group, blocks, stripe, own);
        }
        if (is_last) pool_.CountPart(thread);
      });
    }
  }

  void PackShared(const Group& group, Blocks blocks, uint64_t parts, uint64_t job) const {
    const uint64_t block = job / parts, part = job % parts;
    const IndexRange steps = StepsOf(blocks.first + block);
    std::byte* target = group.shared + block * shared_block_bytes_;
    if (shares_windows_) {
      PackUnit(group, UnitAt(part), steps, target + part * unit_bytes_);
    } else {
      const IndexRange panels = PartOf(column_panels_, parts, part);
      PackPanels(group, steps, panels, target + panels.begin * ColumnPanelBytes(kernels_, steps.end - steps.begin));
    }
  }

  void PackUnit(const Group& group, const Unit& unit, IndexRange steps, std::byte* target) const {
    if (windows_.is_by_rows) {
      PackWindowPanels(kernels_, windows_, group.lhs, size_, unit.run, unit.rows, PanelCount(unit.Count()), steps,
                       target);
    } else {
      PackWindowLines(kernels_, windows_, group.lhs, size_, unit.rows, steps, target, row_stride_packed_);
    }
  }

  void PackPanels(const Group& group, IndexRange steps, IndexRange panels, std::byte* target) const {
    PackStepColumns(kernels_, windows_.steps, {group.rhs, p_.rhs_column, size_, p_.columns}, steps, panels, target);
  }

  // A unit of rows, which no other stripe has, and all columns.
  void MultiplyRows(const Group& group, Blocks blocks, uint64_t stripe, std::byte* own) const {
    const Unit unit = UnitAt(stripe);
    for (uint64_t i = 0; i < blocks.count; ++i) {
      const IndexRange steps = StepsOf(blocks.first + i);
      PackUnit(group, unit, steps, own);
      BlockMatmul block = BlockOf(group, blocks, i, unit, {0, column_panels_}, own + packed_bytes_);
      SetWindows(block, unit, own);
      block.b.packed = group.shared + i * shared_block_bytes_;
      MultiplyBlock(block, {0, block.a.count}, {0, block.b.count}, true);
    }
    if (is_staged_) Finish(group, blocks, unit, {0, column_panels_}, own + packed_bytes_);
  }

  // A stripe of columns and all units of rows.
  void MultiplyColumns(const Group& group, Blocks blocks, uint64_t stripe, std::byte* own) const {
    const IndexRange panels{stripe * stripe_panels_, std::min((stripe + 1) * stripe_panels_, column_panels_)};
    if (!is_staged_) {
      for (uint64_t i = 0; i < blocks.count; ++i) {
        PackStripe(group, blocks.first + i, panels, own);
        for (uint64_t unit = 0; unit < units_; ++unit) MultiplyUnit(group, blocks, i, unit, panels, own);
      }
      return;
    }
    for (uint64_t unit = 0; unit < units_; ++unit) {
      for (uint64_t i = 0; i < blocks.count; ++i) {
        PackStripe(group, blocks.first + i, panels, own);
        MultiplyUnit(group, blocks, i, unit, panels, own);
      }
      Finish(group, blocks, UnitAt(unit), panels, own + packed_bytes_);
    }
  }

  // Panels that are read in place are left out.
  void PackStripe(const Group& group, uint64_t block, IndexRange panels, std::byte* own) const {
    const uint64_t direct = reads_rhs_ ? p_.columns / kernels_.panel_columns : 0;
    panels.begin = std::clamp(direct, panels.begin, panels.end);
    if (panels.begin < panels.end) PackPanels(group, StepsOf(block), panels, own);
  }

  void MultiplyUnit(const Group& group, Blocks blocks, uint64_t i, uint64_t index, IndexRange panels,
                    std::byte* own) const {
    const Unit unit = UnitAt(index);
    BlockMatmul block = BlockOf(group, blocks, i, unit, panels, own + packed_bytes_);
    SetWindows(block, unit, group.shared + i * shared_block_bytes_ + index * unit_bytes_);
    if (index == 0) block.ahead = AheadOf(group, blocks, i, panels), block.calls = block.a.count * block.b.count;
    block.b.packed = own;
    if (reads_rhs_) {
      const int64_t step = static_cast<int64_t>((blocks.first + i) * depth_);
      const int64_t column = static_cast<int64_t>(panels.begin * kernels_.panel_columns);
      block.b.base = group.rhs + (step * rhs_stride_ + column) * static_cast<int64_t>(size_);
      block.b.along_k = rhs_stride_, block.b.across = 1;
      block.b.direct = block.b.first = block.b.length / kernels_.panel_columns;
    }
    MultiplyBlock(block, {0, block.a.count}, {0, block.b.count}, false);
  }

  // The part of the kernel that is read after block `i` of the stripe: its next block, or the next stripe's first one.
  // Where steps, not columns, are contiguous in memory: the steps of one run.
  Ahead AheadOf(const Group& group, Blocks blocks, uint64_t i, IndexRange panels) const {
    const bool is_last = i + 1 == blocks.count;
    if (is_last) panels = {panels.end, panels.end + stripe_panels_};
    const uint64_t begin = std::min(panels.begin * kernels_.panel_columns, p_.columns),
                   end = std::min(panels.end * kernels_.panel_columns, p_.columns);
    IndexRange steps = StepsOf(blocks.first + (is_last ? 0 : i + 1));
    if (begin == end || steps.begin == steps.end) return {};
    const int64_t size = static_cast<int64_t>(size_), column = static_cast<int64_t>(begin) * p_.rhs_column;
    if (p_.rhs_column == 1 && rhs_stride_ != 0) {
      const int64_t first = static_cast<int64_t>(steps.begin) * rhs_stride_ + column;
      return {group.rhs + first * size, steps.end - steps.begin, (end - begin) * size_, rhs_stride_ * size};
    }
    const WindowIndex& run = windows_.steps.run;
    if (run.other != 1) return AheadOfParts(group, steps, begin, end);
    steps = LongestRun(steps, run.size);
    const int64_t first = WindowCursor(windows_.steps, steps.begin / run.size).place().other +
                          static_cast<int64_t>(steps.begin % run.size);
    return {group.rhs + (first + column) * size, end - begin, (steps.end - steps.begin) * size_, p_.rhs_column * size};
  }

  // Likewise, where features, columns and the elements of the kernel, outermost first, are contiguous in memory: those
  // of the first part of the features.
  Ahead AheadOfParts(const Group& group, IndexRange steps, uint64_t begin, uint64_t end) const {
    const WindowIndices& indices = windows_.steps;
    int64_t low = 0, high = 1;
    for (const WindowIndex& dim : indices.outer) {
      if (dim.spatial < 0) continue;
      const int64_t reach = static_cast<int64_t>(dim.size - 1) * dim.other;
      (reach < 0 ? low : high) += reach;
    }
    const int64_t size = static_cast<int64_t>(size_), column = static_cast<int64_t>(begin) * p_.rhs_column;
    if (high - low != p_.rhs_column || indices.run.other < static_cast<int64_t>(p_.columns) * p_.rhs_column) return {};
    WindowPlace place = WindowCursor(indices, CeilDivide(steps.begin, indices.run.size)).place();
    return {group.rhs + (place.other + column + low) * size, indices.run.size,
            (end - begin) * static_cast<uint64_t>(p_.rhs_column) * size_, indices.run.other * size};
  }

  // The matmul of packed block `i`, without its operands.
  BlockMatmul BlockOf(const Group& group, Blocks blocks, uint64_t i, const Unit& unit, IndexRange panels,
                      std::byte* stage) const {
    const IndexRange steps = StepsOf(blocks.first + i);
    const uint64_t column = panels.begin * kernels_.panel_columns;
    BlockMatmul block;
    block.kernels = &kernels_;
    block.k = steps.end - steps.begin;
    block.has_own_ahead = true;
    block.b.length = std::min(panels.end * kernels_.panel_columns, p_.columns) - column;
    block.b.count = panels.end - panels.begin;
    block.b.packed_bytes = ColumnPanelBytes(kernels_, block.k);
    if (is_staged_) {
      block.c = stage;
      block.c_m = static_cast<int64_t>(stage_columns_);
      block.adds = i > 0;
      return block;
    }
    block.c = group.result + RowPlace(unit, 0) * static_cast<int64_t>(accumulator_size_) + column * accumulator_size_;
    block.c_m = row_stride_;
    block.adds = blocks.first + i > 0 || p_.epilogue.Has(EpilogueStep::kResidual);
    const bool is_last = blocks.first + i + 1 == depth_blocks_;
    if (is_last && group.bias != nullptr) block.column_bias = group.bias + column * accumulator_size_;
    block.relu = is_last && p_.epilogue.Has(EpilogueStep::kRelu);
    return block;
  }

  void SetWindows(BlockMatmul& block, const Unit& unit, const std::byte* packed) const {
    block.a.length = unit.Count();
    block.a.count = PanelCount(unit.Count());
    if (windows_.is_by_rows) {
      block.a.packed = packed;
      block.a.packed_bytes = RowPanelBytes(kernels_, block.k);
    } else {
      block.a.direct = block.a.count;
      block.a.base = packed;
      block.a.along_k = 1, block.a.across = static_cast<int64_t>(row_stride_packed_);
    }
  }

  // Elements from the result's first one to row `index` of the unit.
  int64_t RowPlace(const Unit& unit, uint64_t index) const {
    const WindowIndices& rows = windows_.rows;
    const uint64_t row = unit.rows.begin + index + (windows_.is_by_rows ? unit.run * rows.run.size : 0);
    return WindowCursor(rows, row / rows.run.size).place().other +
           static_cast<int64_t>(row % rows.run.size) * rows.run.other;
  }

  // From the stage to the result, as many rows at a time as have one stride there.
  void Finish(const Group& group, Blocks blocks, const Unit& unit, IndexRange panels, std::byte* stage) const {
    const uint64_t column = panels.begin * kernels_.panel_columns, run = windows_.rows.run.size;
    const bool is_last = blocks.first + blocks.count == depth_blocks_;
    FinishedTile tile{};
    tile.accumulators_stride = stage_columns_;
    tile.columns = std::min(panels.end * kernels_.panel_columns, p_.columns) - column;
    tile.c_n = p_.result_column;
    tile.adds = blocks.first > 0 || p_.epilogue.Has(EpilogueStep::kResidual);
    if (is_last && group.bias != nullptr) tile.column_bias = group.bias + column * accumulator_size_;
    tile.relu = is_last && p_.epilogue.Has(EpilogueStep::kRelu);
    for (uint64_t row = 0; row < unit.Count(); row += tile.rows) {
      const bool is_uniform = row_stride_ != 0;
      tile.rows = is_uniform ? unit.Count() : std::min(unit.Count(), row + run - (unit.rows.begin + row) % run) - row;
      tile.c_m = is_uniform ? row_stride_ : windows_.rows.run.other;
      tile.accumulators = stage + row * stage_columns_ * accumulator_size_;
      tile.c = group.result + (RowPlace(unit, row) + static_cast<int64_t>(column) * p_.result_column) *
                                  static_cast<int64_t>(accumulator_size_);
      accumulator_kernels_.finish(tile);
    }
  }

  ThreadPool& pool_;
  ThreadScratch& scratch_;
  const PackedKernels& kernels_;
  const PackedKernels& accumulator_kernels_;
  const ConvolutionProblem p_;
  const WindowMatrix& windows_;
  uint64_t size_ = 0, accumulator_size_ = 0;  // bytes of an element of the operands, of the result
  uint64_t depth_ = 1, depth_blocks_ = 1, blocks_at_once_ = 1;
  uint64_t column_panels_ = 0;
  bool shares_windows_ = false;  // otherwise the kernel
  uint64_t units_ = 0, units_per_run_ = 1, unit_rows_ = 0, unit_bytes_ = 0;
  uint64_t row_stride_packed_ = 0;  // elements between packed rows of windows
  uint64_t stripe_panels_ = 1, stripes_ = 0;
  bool reads_rhs_ = false;       // in place
  int64_t rhs_stride_ = 0;       // from step to step; 0: not one
  int64_t row_stride_ = 0;       // of the result
  bool is_staged_ = false;       // accumulates in a stage of [unit_rows_, stage_columns_], then writes
  bool is_whole_group_ = false;  // a thread computes a whole group
  uint64_t shared_block_bytes_ = 0, packed_bytes_ = 0, stage_columns_ = 0, own_bytes_ = 0;
};

}  // namespace

device::PreparedThunk MakeConvolution(ThreadPool& pool, ThreadScratch& scratch,
                                      const artifact::Convolution& convolution, const device::MemoryMap& memory) {
  if (artifact::Size(convolution.lhs_dilations()) != 0 || convolution.rounds())
    return absl::UnimplementedError("a convolution with a dilated lhs or rounded results; those are for other targets");
  const InstructionSet set = BestInstructionSet();
  const PackedKernels* kernels = PackedKernelsFor(set, convolution.element());
  if (kernels == nullptr) {
    return absl::UnimplementedError(absl::StrCat("convolution of ", artifact::ElementName(convolution.element()),
                                                 " elements; convert them to an integer type first"));
  }
  auto grouped = MakeGroupedConvolution(pool, scratch, *kernels, convolution, memory);
  if (!grouped.ok() || *grouped != nullptr) return grouped;
  auto thunk = std::make_unique<ConvolutionThunk>(
      pool, scratch, *kernels, *PackedKernelsFor(set, artifact::AccumulatorElement(convolution.element())),
      ProblemOf(convolution, memory));
  if (absl::Status status = thunk->Reserve(); !status.ok()) return status;
  return thunk;
}

}  // namespace sgd::cpu
