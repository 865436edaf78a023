// Lines of a grouped convolution's lhs as vectors: for every position and input feature, the element of each lane's
// group. Lanes are output features of several groups.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "runtime/artifact/saturating.h"
#include "targets/cpu/device/convolution/grouped_problem.h"

namespace sgd::cpu {

// Windows of the innermost dimension that are computed together.
struct WindowTile {
  int64_t begin = 0, end = 0;
  int64_t Count() const { return end - begin; }
};

// The layout of lines in a thread's memory. As many slots as lines from the first to the last one of a window along the
// last of the outer dimensions; in others windows may share slots. One more line is padding.
struct LineLayout {
  LineLayout(const GroupedProblem& problem, uint64_t lanes, uint64_t element_size, uint64_t least_tile);

  // As many as there can be where it is more than fits into 64 bits.
  uint64_t Bytes() const { return artifact::SaturatingProduct({slots + 1, line_bytes}); }

  uint64_t lanes, element_size, vector_bytes;
  uint64_t slots = 1, line_bytes = 0;
  int64_t tile = 1;  // windows at most
};

// The lines of one block of lanes of an image, made when they are first read and kept while windows move on.
class LaneLines {
 public:
  // `first` of the output features is lane 0, `count` lanes are used. `memory` has the layout's bytes; problem and
  // layout must outlive this.
  LaneLines(const GroupedProblem& problem, const LineLayout& layout, uint64_t image, uint64_t first, uint64_t count,
            std::byte* memory);

  // From here on lines are for the windows of `tile`.
  void Begin(const WindowTile& tile);

  // The line that element `tap` of the kernel reads for windows at `at`, both along the outer dimensions. Valid until
  // the next call.
  const std::byte* Get(const std::vector<int64_t>& at, const std::vector<int64_t>& tap);

 private:
  template <typename Bits>
  void FillLine(const std::byte* source, std::byte* target) const;
  template <typename Bits>
  void FillVector(const Bits* from, Bits* to) const;
  template <typename Bits>
  void CopyLanes(const Bits* from, Bits* to) const;
  template <uint64_t kOutputs, typename Bits>
  void FillGroups(const Bits* from, Bits* to) const;

  const GroupedProblem& p_;
  const LineLayout& layout_;
  const uint64_t count_;
  std::byte* const memory_;
  const std::byte* lhs_;
  WindowTile tile_;
  std::vector<uint64_t> tags_;         // by slot: the line that it holds
  std::vector<int64_t> lane_offsets_;  // of each lane's group in the lhs
};

}  // namespace sgd::cpu
