// Elements are copied as bits.
#include "targets/cpu/device/convolution/lane_lines.h"

#include <algorithm>
#include <cstring>

namespace sgd::cpu {
namespace {

// Of a thread's lines, which are to stay in the second level of cache.
constexpr uint64_t kLineBytes = uint64_t{256} << 10;
constexpr uint64_t kNoLine = ~uint64_t{0};

// Positions that so many windows read.
int64_t LineLength(const WindowSpace& inner, int64_t windows) {
  return (windows - 1) * inner.stride + (inner.kernel - 1) * inner.dilation + 1;
}

}  // namespace

LineLayout::LineLayout(const GroupedProblem& problem, uint64_t lanes, uint64_t element_size, uint64_t least_tile)
    : lanes(lanes), element_size(element_size), vector_bytes(lanes * element_size) {
  const WindowSpace& inner = problem.inner;
  if (!problem.outer.empty()) {
    const WindowSpace& last = problem.outer.back();
    slots = static_cast<uint64_t>((last.kernel - 1) * last.dilation + 1);
  }
  const uint64_t position_bytes = problem.inputs * vector_bytes, wanted = kLineBytes / slots / position_bytes;
  const int64_t fitting = (static_cast<int64_t>(wanted) - LineLength(inner, 1)) / inner.stride + 1;
  tile = std::min(std::max(fitting, static_cast<int64_t>(least_tile)), std::max<int64_t>(inner.output, 1));
  line_bytes = artifact::SaturatingProduct({static_cast<uint64_t>(LineLength(inner, tile)), position_bytes});
}

LaneLines::LaneLines(const GroupedProblem& problem, const LineLayout& layout, uint64_t image, uint64_t first,
                     uint64_t count, std::byte* memory)
    : p_(problem), layout_(layout), count_(count), memory_(memory), tags_(layout.slots, kNoLine) {
  lhs_ = p_.lhs + static_cast<int64_t>(image) * p_.lhs_batch * static_cast<int64_t>(layout.element_size);
  for (uint64_t feature = first; feature < first + count; ++feature) {
    lane_offsets_.push_back(static_cast<int64_t>(feature / p_.outputs) * p_.lhs_group);
  }
  // Lanes of no feature stay zero, as the line of padding does.
  const uint64_t kept = count < layout.lanes ? 0 : layout.slots;
  std::memset(memory + kept * layout.line_bytes, 0, (layout.slots + 1 - kept) * layout.line_bytes);
}

void LaneLines::Begin(const WindowTile& tile) {
  tile_ = tile;
  std::fill(tags_.begin(), tags_.end(), kNoLine);
}

const std::byte* LaneLines::Get(const std::vector<int64_t>& at, const std::vector<int64_t>& tap) {
  uint64_t line = 0;
  const std::byte* source = lhs_;
  for (size_t dim = 0; dim < at.size(); ++dim) {
    const WindowSpace& space = p_.outer[dim];
    const int64_t position = at[dim] * space.stride + tap[dim] * space.dilation - space.low;
    if (position < 0 || position >= space.input) return memory_ + layout_.slots * layout_.line_bytes;
    line = line * static_cast<uint64_t>(space.input) + static_cast<uint64_t>(position);
    source += position * space.lhs * static_cast<int64_t>(layout_.element_size);
  }
  const uint64_t slot = line % layout_.slots;
  std::byte* target = memory_ + slot * layout_.line_bytes;
  if (tags_[slot] == line) return target;
  tags_[slot] = line;
  if (layout_.element_size == sizeof(uint32_t)) {
    FillLine<uint32_t>(source, target);
  } else {
    FillLine<uint64_t>(source, target);
  }
  return target;
}

template <typename Bits>
void LaneLines::FillLine(const std::byte* source, std::byte* target) const {
  const WindowSpace& inner = p_.inner;
  const int64_t first = tile_.begin * inner.stride - inner.low, length = LineLength(inner, tile_.Count());
  const int64_t begin = std::clamp<int64_t>(-first, 0, length), end = std::clamp(inner.input - first, begin, length);
  const int64_t position_bytes = static_cast<int64_t>(p_.inputs * layout_.vector_bytes);
  std::memset(target, 0, static_cast<size_t>(begin * position_bytes));
  for (int64_t position = begin; position < end; ++position) {
    const Bits* from = reinterpret_cast<const Bits*>(source) + (first + position) * inner.lhs;
    std::byte* to = target + position * position_bytes;
    for (uint64_t input = 0; input < p_.inputs; ++input) {
      FillVector(from + static_cast<int64_t>(input) * p_.lhs_input,
                 reinterpret_cast<Bits*>(to + input * layout_.vector_bytes));
    }
  }
  std::memset(target + end * position_bytes, 0, static_cast<size_t>((length - end) * position_bytes));
}

// The element of each lane's group.
template <typename Bits>
void LaneLines::FillVector(const Bits* from, Bits* to) const {
  if (p_.outputs == 1 && p_.lhs_group == 1) {
    CopyLanes(from + lane_offsets_[0], to);
  } else if (p_.outputs == 8) {
    FillGroups<8>(from, to);
  } else if (p_.outputs == 4) {
    FillGroups<4>(from, to);
  } else {
    for (uint64_t lane = 0; lane < count_; ++lane) to[lane] = from[lane_offsets_[lane]];
  }
}

// The same where groups are lanes and follow each other; a call would take as long as the copy.
template <typename Bits>
void LaneLines::CopyLanes(const Bits* from, Bits* to) const {
  constexpr uint64_t kAtOnce = 4;
  uint64_t lane = 0;
  for (; lane + kAtOnce <= count_; lane += kAtOnce) std::memcpy(to + lane, from + lane, kAtOnce * sizeof(Bits));
  for (; lane < count_; ++lane) to[lane] = from[lane];
}

// The same with a known number of lanes for each group; no group is in two vectors.
template <uint64_t kOutputs, typename Bits>
void LaneLines::FillGroups(const Bits* from, Bits* to) const {
  for (uint64_t lane = 0; lane + kOutputs <= count_; lane += kOutputs) {
    const Bits value = from[lane_offsets_[lane]];
    for (uint64_t i = 0; i < kOutputs; ++i) to[lane + i] = value;
  }
}

}  // namespace sgd::cpu
