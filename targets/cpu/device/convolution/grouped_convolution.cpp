// A vector holds output features of several groups. The multiplicands of its lanes are laid out as vectors too, line by
// line of the lhs (lane_lines.h); the rest are matmuls of panels.
#include "targets/cpu/device/convolution/grouped_convolution.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "runtime/artifact/epilogue.h"
#include "runtime/artifact/reader.h"
#include "targets/cpu/device/convolution/lane_lines.h"
#include "targets/cpu/device/threads/rounding.h"

namespace sgd::cpu {
namespace {

using library::EpilogueStep;

// Of input features of a group: with more, runs of them are long enough for matmuls of packed windows.
constexpr uint64_t kMostInputs = 16;
// Of a thread's lines and of the packed kernel.
constexpr uint64_t kMostLineBytes = uint64_t{4} << 20, kMostKernelBytes = uint64_t{16} << 20;
// Of sizes, strides and dilations of a spatial dimension, and of the kernel's elements.
constexpr int64_t kMostExtent = int64_t{1} << 24;
constexpr uint64_t kMostTaps = 1 << 16;
// So many jobs at least, for threads to share them evenly.
constexpr uint64_t kJobs = 16;

class GroupedConvolution final : public device::Thunk {
 public:
  GroupedConvolution(ThreadPool& pool, ThreadScratch& scratch, const PackedKernels& kernels,
                     const GroupedProblem& problem)
      : pool_(pool),
        scratch_(scratch),
        kernels_(kernels),
        p_(problem),
        size_(kernels.accumulator_size),
        layout_(p_, kernels.vector, size_, kernels.rows) {
    lanes_ = layout_.lanes, vector_bytes_ = layout_.vector_bytes;
    features_ = p_.groups * p_.outputs;
    blocks_ = CeilDivide(features_, lanes_);
    outer_windows_ = Product(p_.outer, &WindowSpace::output), outer_taps_ = Product(p_.outer, &WindowSpace::kernel);
    for (uint64_t tap = 0; tap < outer_taps_; ++tap) taps_.push_back(Coordinates(p_.outer, &WindowSpace::kernel, tap));
    depth_ = static_cast<uint64_t>(p_.inner.kernel) * p_.inputs;
    kernel_bytes_ = artifact::SaturatingProduct({outer_taps_, depth_, vector_bytes_});
    CutParts();
  }

  // Whether what is packed has a sensible size.
  bool Fits() const {
    return artifact::SaturatingProduct({blocks_, kernel_bytes_}) <= kMostKernelBytes &&
           layout_.Bytes() <= kMostLineBytes;
  }

  absl::Status Reserve() {
    return scratch_.Reserve(RoundUp(layout_.Bytes(), 64), RoundUp(blocks_ * kernel_bytes_, 64));
  }

  absl::Status Execute() override {
    RunAll(blocks_, [&](uint64_t block, uint32_t) { PackKernel(block); });
    RunAll(p_.batch * blocks_ * parts_, [&](uint64_t job, uint32_t thread) {
      const uint64_t block = job / parts_ % blocks_, image = job / parts_ / blocks_;
      Job(*this, image, block, scratch_.For(thread)).Run(PartOf(outer_windows_, parts_, job % parts_));
      pool_.CountPart(thread);
    });
    return absl::OkStatus();
  }

 private:
  // A block of features of an image, by one thread.
  class Job {
   public:
    Job(const GroupedConvolution& thunk, uint64_t image, uint64_t block, std::byte* memory)
        : n_(thunk),
          p_(thunk.p_),
          block_(block),
          count_(std::min(n_.lanes_, n_.features_ - block * n_.lanes_)),
          lines_(p_, n_.layout_, image, block * n_.lanes_, count_, memory) {
      result_ = p_.result +
                (static_cast<int64_t>(image) * p_.result_batch + static_cast<int64_t>(block * n_.lanes_)) * Size();
      kernel_ = n_.scratch_.Shared() + block * n_.kernel_bytes_;
    }

    void Run(IndexRange windows) {
      for (int64_t begin = 0; begin < p_.inner.output; begin += n_.layout_.tile) {
        const WindowTile tile{begin, std::min(begin + n_.layout_.tile, p_.inner.output)};
        lines_.Begin(tile);
        for (uint64_t window = windows.begin; window < windows.end; ++window) RunWindows(tile, window);
      }
    }

   private:
    int64_t Size() const { return static_cast<int64_t>(n_.size_); }

    void RunWindows(const WindowTile& tile, uint64_t window) {
      const std::vector<int64_t> at = Coordinates(p_.outer, &WindowSpace::output, window);
      std::byte* target = result_ + tile.begin * p_.inner.result * Size();
      for (size_t dim = 0; dim < at.size(); ++dim) target += at[dim] * p_.outer[dim].result * Size();
      for (uint64_t tap = 0; tap < n_.outer_taps_; ++tap) Multiply(tile, lines_.Get(at, n_.taps_[tap]), tap, target);
    }

    // Adds what one outer element of the kernel contributes to the windows of a tile.
    void Multiply(const WindowTile& tile, const std::byte* line, uint64_t tap, std::byte* target) const {
      const WindowSpace& inner = p_.inner;
      const int64_t vectors = static_cast<int64_t>(p_.inputs), lanes = static_cast<int64_t>(n_.lanes_);
      const bool is_one_run = inner.dilation == 1 || inner.kernel == 1 || p_.inputs == 1;
      const int64_t runs = is_one_run ? 1 : inner.kernel;
      MicroTile micro{};
      micro.a_m = inner.stride * vectors * lanes;
      micro.a_k = p_.inputs == 1 ? inner.dilation * lanes : lanes;
      micro.b_k = lanes;
      micro.k = is_one_run ? n_.depth_ : p_.inputs;
      micro.c_m = inner.result;
      micro.columns = count_;
      for (int64_t run = 0; run < runs; ++run) {
        const bool is_last = tap + 1 == n_.outer_taps_ && run + 1 == runs;
        micro.adds = tap > 0 || run > 0 || p_.epilogue.Has(EpilogueStep::kResidual);
        if (is_last && p_.bias != nullptr) micro.column_bias = p_.bias + block_ * n_.vector_bytes_;
        micro.relu = is_last && p_.epilogue.Has(EpilogueStep::kRelu);
        micro.b = kernel_ + (tap * n_.depth_ + static_cast<uint64_t>(run) * p_.inputs) * n_.vector_bytes_;
        MultiplyRun(tile, line + run * inner.dilation * vectors * static_cast<int64_t>(n_.vector_bytes_), micro,
                    target);
      }
    }

    void MultiplyRun(const WindowTile& tile, const std::byte* line, MicroTile micro, std::byte* target) const {
      const uint64_t rows = static_cast<uint64_t>(tile.Count()), panels = CeilDivide(rows, n_.kernels_.rows);
      for (uint64_t panel = 0; panel < panels; ++panel) {
        const IndexRange range = PartOf(rows, panels, panel);
        micro.a = line + static_cast<int64_t>(range.begin) * micro.a_m * Size();
        micro.c = target + static_cast<int64_t>(range.begin) * micro.c_m * Size();
        n_.kernels_.multiply_lanes[range.end - range.begin - 1](micro);
      }
    }

    const GroupedConvolution& n_;
    const GroupedProblem& p_;
    const uint64_t block_, count_;  // of features in the block
    LaneLines lines_;
    std::byte* result_ = nullptr;
    const std::byte* kernel_ = nullptr;
  };

  void CutParts() {
    const uint64_t jobs = std::max<uint64_t>(p_.batch * blocks_, 1);
    parts_ = std::clamp<uint64_t>(CeilDivide(kJobs, jobs), 1, std::max<uint64_t>(outer_windows_, 1));
  }

  template <typename Body>
  void RunAll(uint64_t count, Body body) {
    const uint32_t jobs = static_cast<uint32_t>(std::min<uint64_t>(count, ThreadPool::kMaxChunks));
    if (jobs == 0) return;
    pool_.Run(std::min<uint32_t>(pool_.size(), jobs), jobs, [&](uint32_t job, uint32_t thread) {
      const IndexRange range = PartOf(count, jobs, job);
      for (uint64_t i = range.begin; i < range.end; ++i) body(i, thread);
    });
  }

  // [outer elements, inner elements, inputs, lanes], lanes of no feature zero.
  void PackKernel(uint64_t block) const {
    std::byte* target = scratch_.Shared() + block * kernel_bytes_;
    std::memset(target, 0, kernel_bytes_);
    const int64_t size = static_cast<int64_t>(size_);
    const uint64_t count = std::min(lanes_, features_ - block * lanes_);
    for (const std::vector<int64_t>& tap : taps_) {
      const std::byte* outer = p_.rhs;
      for (size_t dim = 0; dim < tap.size(); ++dim) outer += tap[dim] * p_.outer[dim].rhs * size;
      for (uint64_t step = 0; step < depth_; ++step, target += vector_bytes_) {
        const int64_t at = static_cast<int64_t>(step / p_.inputs) * p_.inner.rhs +
                           static_cast<int64_t>(step % p_.inputs) * p_.rhs_input;
        for (uint64_t lane = 0; lane < count; ++lane) {
          const uint64_t feature = block * lanes_ + lane;
          const int64_t place = at + static_cast<int64_t>(feature / p_.outputs) * p_.rhs_group +
                                static_cast<int64_t>(feature % p_.outputs) * p_.rhs_output;
          std::memcpy(target + lane * size_, outer + place * size, size_);
        }
      }
    }
  }

  ThreadPool& pool_;
  ThreadScratch& scratch_;
  const PackedKernels& kernels_;
  const GroupedProblem p_;
  const uint64_t size_;  // bytes of an element
  const LineLayout layout_;
  uint64_t lanes_ = 1, vector_bytes_ = 0;
  uint64_t features_ = 0, blocks_ = 0;  // of the output: in all groups, and vectors of them
  uint64_t outer_windows_ = 0, outer_taps_ = 0;
  std::vector<std::vector<int64_t>> taps_;  // coordinates of the outer elements of the kernel
  uint64_t depth_ = 0;                      // steps of the sum for each of those
  uint64_t kernel_bytes_ = 0;               // packed, of a block
  uint64_t parts_ = 1;                      // of the outer windows
};

bool IsWorthwhile(const PackedKernels& kernels, const artifact::Convolution& c) {
  if (!kernels.is_direct || c.groups()->size() < 2 || artifact::Size(c.spatial()) == 0) return false;
  const uint64_t inputs = c.inputs()->size(), outputs = c.outputs()->size();
  if (inputs == 0 || inputs > kMostInputs || outputs == 0 || 2 * outputs > kernels.vector) return false;
  if (c.groups()->result() != static_cast<int64_t>(outputs) || (outputs > 1 && c.outputs()->result() != 1))
    return false;
  if (artifact::EpilogueOf(c.epilogue()).Has(EpilogueStep::kRelu) && !kernels.has_relu) return false;
  uint64_t taps = 1, windows = std::min(c.batch()->size(), kMostTaps);
  for (const artifact::WindowDim* dim : *c.spatial()) {
    const int64_t dilation = dim->dilation() < 0 ? -dim->dilation() : dim->dilation();
    if (std::max({static_cast<int64_t>(dim->kernel()), static_cast<int64_t>(dim->output()), dim->stride(), dilation}) >
            kMostExtent ||
        dim->stride() < 1)
      return false;
    taps *= dim->kernel(), windows = std::min<uint64_t>(windows * dim->output(), kMostTaps);
    if (taps > kMostTaps) return false;
  }
  // Of kernels that are larger than what they are applied to, such as in gradients by the kernel, lines are read once.
  return taps > 0 && windows >= taps;
}

}  // namespace

device::PreparedThunk MakeGroupedConvolution(ThreadPool& pool, ThreadScratch& scratch, const PackedKernels& kernels,
                                             const artifact::Convolution& convolution,
                                             const device::MemoryMap& memory) {
  if (!IsWorthwhile(kernels, convolution)) return nullptr;
  auto thunk = std::make_unique<GroupedConvolution>(pool, scratch, kernels, GroupedProblemOf(convolution, memory));
  if (!thunk->Fits()) return nullptr;
  if (absl::Status status = thunk->Reserve(); !status.ok()) return status;
  return thunk;
}

}  // namespace sgd::cpu
