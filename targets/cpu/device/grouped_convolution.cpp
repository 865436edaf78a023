// A vector holds output features of several groups. What each of its lanes multiplies is laid out as vectors too: lines
// of the lhs, in which every position and input feature has a vector with the element of each lane's group. A line is
// made when the first window reads it and kept while windows move on; then products are those of MultiplyLanes.
#include "targets/cpu/device/grouped_convolution.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "runtime/artifact/element_type.h"
#include "runtime/artifact/reader.h"

namespace sgd::cpu {
namespace {

using artifact::Epilogue;

// Of input features of a group: with more, runs of them are long enough for products of packed windows.
constexpr uint64_t kMostInputs = 16;
// Of a thread's lines, which are to stay in the second level of cache, and of the packed kernel.
constexpr uint64_t kLineBytes = uint64_t{256} << 10, kMostLineBytes = uint64_t{4} << 20;
constexpr uint64_t kMostKernelBytes = uint64_t{16} << 20;
// Of sizes, strides and dilations of a spatial dimension.
constexpr int64_t kMostExtent = int64_t{1} << 24;
// So many jobs at least, for threads to share them evenly.
constexpr uint64_t kJobs = 16;

uint64_t CeilDivide(uint64_t value, uint64_t divisor) { return (value + divisor - 1) / divisor; }

uint64_t RoundUp(uint64_t bytes) { return CeilDivide(bytes, 64) * 64; }

// A spatial dimension whose kernel is read forwards; strides count elements.
struct Space {
  int64_t input = 1, output = 1, kernel = 1;
  int64_t stride = 1, dilation = 1, low = 0;
  int64_t lhs = 0, rhs = 0, result = 0;
};

struct Problem {
  uint64_t batch = 1, groups = 1, inputs = 1, outputs = 1;
  int64_t lhs_batch = 0, lhs_group = 0, lhs_input = 0;
  int64_t rhs_group = 0, rhs_input = 0, rhs_output = 0;
  int64_t result_batch = 0;
  std::vector<Space> outer;  // all but the innermost dimension
  Space inner;
  Epilogue epilogue{};
  const std::byte* lhs = nullptr;
  const std::byte* rhs = nullptr;  // of the first element that is read
  std::byte* result = nullptr;
  const std::byte* bias = nullptr;
};

Space SpaceOf(const artifact::WindowDim& dim, int64_t size, Problem& problem) {
  Space space{static_cast<int64_t>(dim.input()),
              static_cast<int64_t>(dim.output()),
              static_cast<int64_t>(dim.kernel()),
              dim.stride(),
              dim.dilation(),
              dim.low(),
              dim.lhs(),
              dim.rhs(),
              dim.result()};
  if (space.dilation < 0) {
    space.low -= (space.kernel - 1) * space.dilation;
    problem.rhs += (space.kernel - 1) * space.rhs * size;
    space.dilation = -space.dilation, space.rhs = -space.rhs;
  }
  return space;
}

Problem ProblemOf(const artifact::Convolution& c, const device::MemoryMap& memory) {
  Problem p;
  const int64_t size = static_cast<int64_t>(artifact::ElementSize(c.element()));
  p.batch = c.batch()->size(), p.groups = c.groups()->size();
  p.inputs = c.inputs()->size(), p.outputs = c.outputs()->size();
  p.lhs_batch = c.batch()->lhs(), p.lhs_group = c.groups()->lhs(), p.lhs_input = c.inputs()->lhs();
  p.rhs_group = c.groups()->rhs(), p.rhs_input = c.inputs()->rhs(), p.rhs_output = c.outputs()->rhs();
  p.result_batch = c.batch()->result();
  p.epilogue = c.epilogue();
  p.lhs = memory.Address(*c.lhs()), p.rhs = memory.Address(*c.rhs()), p.result = memory.Address(*c.result());
  if (c.epilogue() == Epilogue::Bias || c.epilogue() == Epilogue::BiasRelu) p.bias = memory.Address(*c.bias());
  const uint32_t count = artifact::Size(c.spatial());
  for (uint32_t i = 0; i < count; ++i) {
    const Space space = SpaceOf(*c.spatial()->Get(i), size, p);
    if (i + 1 < count) {
      p.outer.push_back(space);
    } else {
      p.inner = space;
    }
  }
  return p;
}

// Windows of the innermost dimension that are computed together, and the line that they read.
struct Tile {
  int64_t begin = 0, end = 0;  // windows
  int64_t Count() const { return end - begin; }
};

// Places along the outer dimensions, row-major.
std::vector<int64_t> Coordinates(const std::vector<Space>& outer, int64_t Space::* size, uint64_t index) {
  std::vector<int64_t> at(outer.size());
  for (size_t dim = outer.size(); dim-- > 0;) {
    at[dim] = static_cast<int64_t>(index) % (outer[dim].*size);
    index /= static_cast<uint64_t>(outer[dim].*size);
  }
  return at;
}

uint64_t Product(const std::vector<Space>& outer, int64_t Space::* size) {
  uint64_t product = 1;
  for (const Space& space : outer) product *= static_cast<uint64_t>(space.*size);
  return product;
}

class GroupedConvolution final : public device::Node {
 public:
  GroupedConvolution(ThreadPool& pool, ThreadScratch& scratch, const PackedKernels& kernels, const Problem& problem)
      : pool_(pool), scratch_(scratch), kernels_(kernels), p_(problem), size_(kernels.sum_size) {
    lanes_ = kernels.vector, vector_bytes_ = lanes_ * size_;
    features_ = p_.groups * p_.outputs;
    blocks_ = CeilDivide(features_, lanes_);
    outer_windows_ = Product(p_.outer, &Space::output), outer_taps_ = Product(p_.outer, &Space::kernel);
    for (uint64_t tap = 0; tap < outer_taps_; ++tap) taps_.push_back(Coordinates(p_.outer, &Space::kernel, tap));
    depth_ = static_cast<uint64_t>(p_.inner.kernel) * p_.inputs;
    kernel_bytes_ = outer_taps_ * depth_ * vector_bytes_;
    CutTiles();
    CutParts();
  }

  // Whether what is packed has a sensible size.
  bool Fits() const {
    return blocks_ * kernel_bytes_ <= kMostKernelBytes && (slots_ + 1) * line_bytes_ <= kMostLineBytes;
  }

  absl::Status Reserve() {
    return scratch_.Reserve(RoundUp((slots_ + 1) * line_bytes_), RoundUp(blocks_ * kernel_bytes_));
  }

  absl::Status Execute() override {
    RunAll(blocks_, [&](uint64_t block, uint32_t) { PackKernel(block); });
    RunAll(p_.batch * blocks_ * parts_, [&](uint64_t job, uint32_t thread) {
      const uint64_t block = job / parts_ % blocks_, image = job / parts_ / blocks_;
      Job(*this, image, block, scratch_.For(thread)).Run(PartOf(outer_windows_, parts_, job % parts_));
    });
    return absl::OkStatus();
  }

 private:
  // A block of features of an image, by one thread.
  class Job {
   public:
    Job(const GroupedConvolution& node, uint64_t image, uint64_t block, std::byte* lines)
        : n_(node), p_(node.p_), block_(block), lines_(lines), tags_(node.slots_, kNoLine) {
      count_ = std::min(n_.lanes_, n_.features_ - block * n_.lanes_);
      lhs_ = p_.lhs + static_cast<int64_t>(image) * p_.lhs_batch * Size();
      result_ = p_.result +
                (static_cast<int64_t>(image) * p_.result_batch + static_cast<int64_t>(block * n_.lanes_)) * Size();
      kernel_ = n_.scratch_.Shared() + block * n_.kernel_bytes_;
      for (uint64_t lane = 0; lane < count_; ++lane) {
        const uint64_t feature = block * n_.lanes_ + lane;
        lane_offsets_.push_back(static_cast<int64_t>(feature / p_.outputs) * p_.lhs_group);
      }
    }

    void Run(IndexRange windows) {
      // Lanes of no feature stay zero, as the line of padding does.
      const uint64_t kept = count_ < n_.lanes_ ? 0 : n_.slots_;
      std::memset(lines_ + kept * n_.line_bytes_, 0, (n_.slots_ + 1 - kept) * n_.line_bytes_);
      for (int64_t begin = 0; begin < p_.inner.output; begin += n_.tile_) {
        const Tile tile{begin, std::min(begin + n_.tile_, p_.inner.output)};
        std::fill(tags_.begin(), tags_.end(), kNoLine);
        for (uint64_t window = windows.begin; window < windows.end; ++window) RunWindows(tile, window);
      }
    }

   private:
    static constexpr uint64_t kNoLine = ~uint64_t{0};

    int64_t Size() const { return static_cast<int64_t>(n_.size_); }

    void RunWindows(const Tile& tile, uint64_t window) {
      const std::vector<int64_t> at = Coordinates(p_.outer, &Space::output, window);
      std::byte* target = result_ + tile.begin * p_.inner.result * Size();
      for (size_t dim = 0; dim < at.size(); ++dim) target += at[dim] * p_.outer[dim].result * Size();
      for (uint64_t tap = 0; tap < n_.outer_taps_; ++tap) Multiply(tile, GetLine(tile, at, n_.taps_[tap]), tap, target);
    }

    // The line that element `tap` of the kernel reads for windows at `at`.
    const std::byte* GetLine(const Tile& tile, const std::vector<int64_t>& at, const std::vector<int64_t>& tap) {
      uint64_t line = 0;
      const std::byte* source = lhs_;
      for (size_t dim = 0; dim < at.size(); ++dim) {
        const Space& space = p_.outer[dim];
        const int64_t position = at[dim] * space.stride + tap[dim] * space.dilation - space.low;
        if (position < 0 || position >= space.input) return lines_ + n_.slots_ * n_.line_bytes_;
        line = line * static_cast<uint64_t>(space.input) + static_cast<uint64_t>(position);
        source += position * space.lhs * Size();
      }
      const uint64_t slot = line % n_.slots_;
      std::byte* target = lines_ + slot * n_.line_bytes_;
      if (tags_[slot] == line) return target;
      tags_[slot] = line;
      if (n_.size_ == sizeof(uint32_t)) {
        FillLine<uint32_t>(tile, source, target);
      } else {
        FillLine<uint64_t>(tile, source, target);
      }
      return target;
    }

    template <typename Bits>
    void FillLine(const Tile& tile, const std::byte* source, std::byte* target) const {
      const Space& inner = p_.inner;
      const int64_t first = tile.begin * inner.stride - inner.low, length = n_.LineLength(tile.Count());
      const int64_t begin = std::clamp<int64_t>(-first, 0, length),
                    end = std::clamp(inner.input - first, begin, length);
      const int64_t position_bytes = static_cast<int64_t>(p_.inputs * n_.vector_bytes_);
      std::memset(target, 0, static_cast<size_t>(begin * position_bytes));
      for (int64_t position = begin; position < end; ++position) {
        const std::byte* from = source + (first + position) * inner.lhs * Size();
        std::byte* to = target + position * position_bytes;
        for (uint64_t input = 0; input < p_.inputs; ++input) {
          FillVector<Bits>(reinterpret_cast<const Bits*>(from) + static_cast<int64_t>(input) * p_.lhs_input,
                           reinterpret_cast<Bits*>(to + input * n_.vector_bytes_));
        }
      }
      std::memset(target + end * position_bytes, 0, static_cast<size_t>((length - end) * position_bytes));
    }

    // The element of each lane's group.
    template <typename Bits>
    void FillVector(const Bits* from, Bits* to) const {
      if (p_.outputs == 1 && p_.lhs_group == 1) {
        std::memcpy(to, from + lane_offsets_[0], count_ * sizeof(Bits));
      } else if (p_.outputs == 8) {
        FillLanes<8>(from, to);
      } else if (p_.outputs == 4) {
        FillLanes<4>(from, to);
      } else {
        for (uint64_t lane = 0; lane < count_; ++lane) to[lane] = from[lane_offsets_[lane]];
      }
    }

    // With groups that begin with the vector and end with it.
    template <uint64_t kOutputs, typename Bits>
    void FillLanes(const Bits* from, Bits* to) const {
      uint64_t lane = 0;
      for (; lane + kOutputs <= count_ && n_.lanes_ % kOutputs == 0; lane += kOutputs) {
        const Bits value = from[lane_offsets_[lane]];
        for (uint64_t i = 0; i < kOutputs; ++i) to[lane + i] = value;
      }
      for (; lane < count_; ++lane) to[lane] = from[lane_offsets_[lane]];
    }

    // Adds what one outer element of the kernel contributes to the windows of a tile.
    void Multiply(const Tile& tile, const std::byte* line, uint64_t tap, std::byte* target) const {
      const Space& inner = p_.inner;
      const int64_t vectors = static_cast<int64_t>(p_.inputs), lanes = static_cast<int64_t>(n_.lanes_);
      const bool is_one_run = inner.dilation == 1 || inner.kernel == 1 || p_.inputs == 1;
      const int64_t runs = is_one_run ? 1 : inner.kernel;
      MicroTile product{};
      product.a_m = inner.stride * vectors * lanes;
      product.a_k = p_.inputs == 1 ? inner.dilation * lanes : lanes;
      product.b_k = lanes;
      product.k = is_one_run ? n_.depth_ : p_.inputs;
      product.c_m = inner.result;
      product.columns = count_;
      for (int64_t run = 0; run < runs; ++run) {
        const bool is_last = tap + 1 == n_.outer_taps_ && run + 1 == runs;
        product.adds = tap > 0 || run > 0 || p_.epilogue == Epilogue::Accumulate;
        if (is_last && p_.bias != nullptr) {
          product.column_bias = p_.bias + block_ * n_.vector_bytes_;
          product.relu = p_.epilogue == Epilogue::BiasRelu;
        }
        product.b = kernel_ + (tap * n_.depth_ + static_cast<uint64_t>(run) * p_.inputs) * n_.vector_bytes_;
        MultiplyRun(tile, line + run * inner.dilation * vectors * static_cast<int64_t>(n_.vector_bytes_), product,
                    target);
      }
    }

    void MultiplyRun(const Tile& tile, const std::byte* line, MicroTile product, std::byte* target) const {
      const uint64_t rows = static_cast<uint64_t>(tile.Count()), panels = CeilDivide(rows, n_.kernels_.rows);
      for (uint64_t panel = 0; panel < panels; ++panel) {
        const IndexRange range = PartOf(rows, panels, panel);
        product.a = line + static_cast<int64_t>(range.begin) * product.a_m * Size();
        product.c = target + static_cast<int64_t>(range.begin) * product.c_m * Size();
        n_.kernels_.multiply_lanes[range.end - range.begin - 1](product);
      }
    }

    const GroupedConvolution& n_;
    const Problem& p_;
    const uint64_t block_;
    std::byte* const lines_;
    std::vector<uint64_t> tags_;  // by slot: the line that it holds
    uint64_t count_ = 0;          // of features in the block
    const std::byte* lhs_ = nullptr;
    std::byte* result_ = nullptr;
    const std::byte* kernel_ = nullptr;
    std::vector<int64_t> lane_offsets_;  // of each lane's group in the lhs
  };

  // Positions that so many windows read.
  int64_t LineLength(int64_t windows) const {
    return (windows - 1) * p_.inner.stride + (p_.inner.kernel - 1) * p_.inner.dilation + 1;
  }

  // A slot for each line between the first and the last one of a window in the innermost of the outer dimensions; in
  // others, windows may share slots.
  void CutTiles() {
    slots_ = 1;
    for (const Space& space : p_.outer) slots_ = static_cast<uint64_t>((space.kernel - 1) * space.dilation + 1);
    const uint64_t position = p_.inputs * vector_bytes_, wanted = kLineBytes / slots_ / position;
    const int64_t fitting = (static_cast<int64_t>(wanted) - LineLength(1)) / p_.inner.stride + 1;
    tile_ = std::min(std::max(fitting, static_cast<int64_t>(kernels_.rows)), std::max<int64_t>(p_.inner.output, 1));
    line_bytes_ = static_cast<uint64_t>(LineLength(tile_)) * position;
  }

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
  const Problem p_;
  const uint64_t size_;  // bytes of an element
  uint64_t lanes_ = 1, vector_bytes_ = 0;
  uint64_t features_ = 0, blocks_ = 0;  // of the output: in all groups, and vectors of them
  uint64_t outer_windows_ = 0, outer_taps_ = 0;
  std::vector<std::vector<int64_t>> taps_;  // coordinates of the outer elements of the kernel
  uint64_t depth_ = 0;                      // steps of the sum for each of those
  uint64_t kernel_bytes_ = 0;               // packed, of a block
  uint64_t slots_ = 1, line_bytes_ = 0;     // of a thread; one more line is padding
  int64_t tile_ = 1;                        // windows of the innermost dimension at most
  uint64_t parts_ = 1;                      // of the outer windows
};

bool IsWorthwhile(const PackedKernels& kernels, const artifact::Convolution& c) {
  if (!kernels.is_direct || c.groups()->size() < 2 || artifact::Size(c.spatial()) == 0) return false;
  const uint64_t inputs = c.inputs()->size(), outputs = c.outputs()->size();
  if (inputs == 0 || inputs > kMostInputs || outputs == 0 || 2 * outputs > kernels.vector) return false;
  if (c.groups()->result() != static_cast<int64_t>(outputs) || (outputs > 1 && c.outputs()->result() != 1))
    return false;
  if (c.epilogue() == Epilogue::BiasRelu && !kernels.has_relu) return false;
  uint64_t taps = 1, windows = c.batch()->size();
  for (const artifact::WindowDim* dim : *c.spatial()) {
    const int64_t dilation = dim->dilation() < 0 ? -dim->dilation() : dim->dilation();
    if (std::max({static_cast<int64_t>(dim->kernel()), static_cast<int64_t>(dim->output()), dim->stride(), dilation}) >
            kMostExtent ||
        dim->stride() < 1)
      return false;
    taps *= dim->kernel(), windows *= dim->output();
  }
  // Of kernels that are larger than what they are applied to, such as in gradients by the kernel, lines are read once.
  return taps > 0 && windows >= taps;
}

}  // namespace

absl::StatusOr<std::unique_ptr<device::Node>> MakeGroupedConvolution(ThreadPool& pool, ThreadScratch& scratch,
                                                                     const PackedKernels& kernels,
                                                                     const artifact::Convolution& convolution,
                                                                     const device::MemoryMap& memory) {
  if (!IsWorthwhile(kernels, convolution)) return nullptr;
  auto node = std::make_unique<GroupedConvolution>(pool, scratch, kernels, ProblemOf(convolution, memory));
  if (!node->Fits()) return nullptr;
  if (absl::Status status = node->Reserve(); !status.ok()) return status;
  return node;
}

}  // namespace sgd::cpu
