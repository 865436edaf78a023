// Elements are copied run by run; only the ends of a run can be in the padding.
#include "targets/cpu/device/convolution/window_matrix.h"

#include <algorithm>
#include <cstring>

namespace sgd::cpu {
namespace {

// The part of a run that is inside the lhs along the spatial dimension in which it moves. The others are not looked at.
class RunBounds {
 public:
  RunBounds(const WindowMatrix& matrix, const WindowIndices& indices) : run_(indices.run), granule_(indices.granule) {
    if (run_.spatial < 0) return;
    input_ = static_cast<int64_t>(matrix.inputs[static_cast<size_t>(run_.spatial)]);
    granules_ = run_.size / granule_;
    reach_ = static_cast<int64_t>(granules_ - 1) * run_.step;
  }

  // By the run's first position. Most runs are inside as a whole, which takes no division to see.
  IndexRange At(int64_t position) const {
    const int64_t last = position + reach_;
    const bool is_whole = std::min(position, last) >= 0 && std::max(position, last) < input_;
    return is_whole ? IndexRange{0, run_.size} : Clip(position);
  }

 private:
  // Granules t with 0 <= position + t * step < input.
  IndexRange Clip(int64_t position) const {
    const int64_t step = run_.step < 0 ? -run_.step : run_.step;
    const int64_t from = run_.step < 0 ? position - (input_ - 1) : -position;
    const int64_t to = run_.step < 0 ? position : input_ - 1 - position;
    if (to < 0 || input_ == 0) return {0, 0};
    const auto steps_in = [&](int64_t distance) {
      return static_cast<uint64_t>(step == 1 ? distance : distance / step);
    };
    const uint64_t begin = from <= 0 ? 0 : steps_in(from + step - 1), end = steps_in(to) + 1;
    return {std::min(begin, granules_) * granule_, std::min(end, granules_) * granule_};
  }

  const WindowIndex& run_;
  const uint64_t granule_;
  uint64_t granules_ = 1;
  int64_t input_ = 1, reach_ = 0;  // a run that does not move is at position 0 of 1
};

// Whether both positions together are inside the lhs in all spatial dimensions but those of the runs.
bool IsInside(const WindowMatrix& matrix, const WindowPlace& row, const WindowPlace& step, int except, int or_except) {
  for (size_t dim = 0; dim < matrix.spatial_dims; ++dim) {
    if (static_cast<int>(dim) == except || static_cast<int>(dim) == or_except) continue;
    const int64_t position = row.position[dim] + step.position[dim];
    if (position < 0 || position >= static_cast<int64_t>(matrix.inputs[dim])) return false;
  }
  return true;
}

int64_t PositionIn(const WindowPlace& row, const WindowPlace& step, int spatial) {
  return spatial < 0 ? 0 : row.position[static_cast<size_t>(spatial)] + step.position[static_cast<size_t>(spatial)];
}

WindowPlace Moved(const WindowMatrix& matrix, WindowPlace place) {
  place.lhs += matrix.origin.lhs;
  for (size_t dim = 0; dim < matrix.spatial_dims; ++dim) place.position[dim] += matrix.origin.position[dim];
  return place;
}

// Element `index` of a run that begins at `place`.
WindowPlace Along(const WindowIndices& indices, WindowPlace place, uint64_t index) {
  place.lhs += static_cast<int64_t>(index) * indices.run.lhs;
  place.other += static_cast<int64_t>(index) * indices.run.other;
  if (indices.run.spatial >= 0) {
    place.position[static_cast<size_t>(indices.run.spatial)] +=
        static_cast<int64_t>(index / indices.granule) * indices.run.step;
  }
  return place;
}

IndexRange Intersect(IndexRange a, IndexRange b) {
  const uint64_t begin = std::max(a.begin, b.begin);
  return {begin, std::max(begin, std::min(a.end, b.end))};
}

// Calls visit(position, range within the run) for the runs that contain `indices` of all of them.
template <typename Visit>
void ForEachRun(const WindowIndices& indices, IndexRange range, Visit visit) {
  const uint64_t length = indices.run.size;
  if (range.begin >= range.end) return;
  WindowCursor cursor(indices, range.begin / length);
  for (uint64_t begin = range.begin / length * length; begin < range.end; begin += length, cursor.Next()) {
    const IndexRange inside = Intersect({begin, begin + length}, range);
    visit(cursor.place(), IndexRange{inside.begin - begin, inside.end - begin});
  }
}

// Copies of up to this many bytes are not worth a call.
constexpr uint64_t kShortCopy = 128;

// At least 16 bytes; the last ones may be copied twice.
inline void CopyShort(std::byte* target, const std::byte* source, uint64_t bytes) {
  for (uint64_t at = 0; at + 16 < bytes; at += 16) std::memcpy(target + at, source + at, 16);
  std::memcpy(target + bytes - 16, source + bytes - 16, 16);
}

// A few rows, run by run of the steps: what is the same for all rows is looked at once.
class LinePacker {
 public:
  static constexpr uint64_t kRows = 64;

  LinePacker(const PackedKernels& kernels, const WindowMatrix& matrix, const std::byte* lhs, uint64_t element_size,
             uint64_t stride)
      : kernels_(kernels),
        matrix_(matrix),
        lhs_(lhs),
        size_(static_cast<int64_t>(element_size)),
        row_bytes_(stride * kernels.accumulator_size),
        bounds_(matrix, matrix.steps),
        copies_(kernels.is_direct && matrix.steps.run.lhs == 1) {}

  // The next row; at most kRows of them.
  void Add(const WindowPlace& row) { rows_[count_++] = row; }
  bool IsFull() const { return count_ == kRows; }

  // Writes the rows that were added, and forgets them.
  void Pack(IndexRange steps, std::byte* target) {
    ForEachRun(matrix_.steps, steps, [&](const WindowPlace& step, IndexRange run) {
      for (uint64_t row = 0; row < count_; ++row) PackRun(rows_[row], step, run, target + row * row_bytes_);
      target += (run.end - run.begin) * kernels_.accumulator_size;
    });
    count_ = 0;
  }

 private:
  void PackRun(const WindowPlace& row, const WindowPlace& step, IndexRange run, std::byte* target) const {
    const WindowIndices& steps = matrix_.steps;
    const int spatial = steps.run.spatial;
    const uint64_t sum = kernels_.accumulator_size, bytes = (run.end - run.begin) * sum;
    IndexRange inside = run;
    if (!IsInside(matrix_, row, step, spatial, -1)) {
      inside.end = inside.begin;
    } else if (spatial >= 0) {
      inside = Intersect(bounds_.At(PositionIn(row, step, spatial)), run);
    }
    if (inside.begin == inside.end) {
      std::memset(target, 0, bytes);
      return;
    }
    const std::byte* source = lhs_ + (row.lhs + step.lhs + static_cast<int64_t>(inside.begin) * steps.run.lhs) * size_;
    const uint64_t before = (inside.begin - run.begin) * sum, after = (run.end - inside.end) * sum;
    const uint64_t copied = bytes - before - after;
    if (before > 0) std::memset(target, 0, before);
    if (copies_ && copied >= 16 && copied <= kShortCopy) {
      CopyShort(target + before, source, copied);
    } else {
      kernels_.widen({source, steps.run.lhs, inside.end - inside.begin}, target + before);
    }
    if (after > 0) std::memset(target + bytes - after, 0, after);
  }

  const PackedKernels& kernels_;
  const WindowMatrix& matrix_;
  const std::byte* lhs_;
  const int64_t size_;
  const uint64_t row_bytes_;
  const RunBounds bounds_;
  const bool copies_;  // accumulators are stored as elements are
  std::array<WindowPlace, kRows> rows_;
  uint64_t count_ = 0;
};

// Panels of a run of rows.
class PanelPacker {
 public:
  PanelPacker(const PackedKernels& kernels, const WindowMatrix& matrix, const std::byte* lhs, uint64_t element_size)
      : kernels_(kernels),
        matrix_(matrix),
        lhs_(lhs),
        size_(static_cast<int64_t>(element_size)),
        line_bytes_(kernels.panel_rows * kernels.accumulator_size),
        row_bounds_(matrix, matrix.rows),
        step_bounds_(matrix, matrix.steps) {}

  // Rows `rows` of the run that begins at `row`, for steps `steps` of the one that begins at `step`.
  void Pack(const WindowPlace& row, IndexRange rows, const WindowPlace& step, IndexRange steps,
            std::byte* target) const {
    const int row_spatial = matrix_.rows.run.spatial, step_spatial = matrix_.steps.run.spatial;
    IndexRange inside = rows, lines = steps;
    if (!IsInside(matrix_, row, step, row_spatial, step_spatial)) lines.end = lines.begin;
    if (row_spatial >= 0) {
      inside = Intersect(row_bounds_.At(PositionIn(row, step, row_spatial)), rows);
      if (inside.begin == inside.end) lines.end = lines.begin;
    }
    if (step_spatial >= 0) {
      lines = Intersect(step_bounds_.At(PositionIn(row, step, step_spatial)), lines);
    }
    if (lines.begin == lines.end) lines = {steps.end, steps.end};
    std::memset(target, 0, (lines.begin - steps.begin) * line_bytes_);
    target += (lines.begin - steps.begin) * line_bytes_;
    PackInside(row, step, rows.begin, inside, lines, target);
    target += (lines.end - lines.begin) * line_bytes_;
    std::memset(target, 0, (steps.end - lines.end) * line_bytes_);
  }

 private:
  // Rows `inside` of a panel that begins with row `first`; the others are zero.
  void PackInside(const WindowPlace& row, const WindowPlace& step, uint64_t first, IndexRange inside, IndexRange lines,
                  std::byte* target) const {
    if (lines.begin == lines.end) return;
    const WindowIndex &rows = matrix_.rows.run, &steps = matrix_.steps.run;
    const uint64_t count = inside.end - inside.begin, before = (inside.begin - first) * kernels_.accumulator_size;
    const std::byte* base = lhs_ + (row.lhs + step.lhs + static_cast<int64_t>(inside.begin) * rows.lhs +
                                    static_cast<int64_t>(lines.begin) * steps.lhs) *
                                       size_;
    uint64_t packed = lines.end - lines.begin;
    // Behind its rows every line is filled with as many zeros as the next one needs in front; the last has no next one.
    if (before > 0) --packed;
    std::memset(target, 0, before);
    kernels_.pack({base, steps.lhs, rows.lhs, packed, count}, kernels_.panel_rows, target + before);
    if (before == 0) return;
    target += packed * line_bytes_;
    std::memset(target, 0, line_bytes_);
    kernels_.widen({base + static_cast<int64_t>(packed) * steps.lhs * size_, rows.lhs, count}, target + before);
  }

  const PackedKernels& kernels_;
  const WindowMatrix& matrix_;
  const std::byte* lhs_;
  const int64_t size_;
  const uint64_t line_bytes_;
  const RunBounds row_bounds_, step_bounds_;
};

}  // namespace

uint64_t WindowIndices::RunCount() const {
  uint64_t count = 1;
  for (const WindowIndex& index : outer) count *= index.size;
  return count;
}

int64_t WindowIndices::UniformOther() const {
  // The stride of a single element does not matter. One of 0 between several, which share an element, is not uniform.
  if (RunCount() == 1) return run.size <= 1 ? std::max<int64_t>(run.other, 1) : run.other;
  const int64_t stride = run.size == 1 ? outer.back().other : run.other;
  int64_t reach = stride * static_cast<int64_t>(run.size);
  for (size_t i = outer.size(); i-- > 0;) {
    if (outer[i].other != reach) return 0;
    reach *= static_cast<int64_t>(outer[i].size);
  }
  return stride;
}

WindowCursor::WindowCursor(const WindowIndices& indices, uint64_t run) : outer_(indices.outer) {
  for (size_t i = outer_.size(); i-- > 0;) {
    const WindowIndex& dim = outer_[i];
    index_[i] = run % dim.size;
    run /= dim.size;
    const int64_t at = static_cast<int64_t>(index_[i]);
    place_.lhs += at * dim.lhs, place_.other += at * dim.other;
    if (dim.spatial >= 0) place_.position[static_cast<size_t>(dim.spatial)] += at * dim.step;
  }
}

void WindowCursor::Next() {
  for (size_t i = outer_.size(); i-- > 0;) {
    const WindowIndex& dim = outer_[i];
    const bool wraps = ++index_[i] == dim.size;
    const int64_t by = wraps ? 1 - static_cast<int64_t>(dim.size) : 1;
    place_.lhs += by * dim.lhs, place_.other += by * dim.other;
    if (dim.spatial >= 0) place_.position[static_cast<size_t>(dim.spatial)] += by * dim.step;
    if (!wraps) return;
    index_[i] = 0;
  }
}

void PackWindowLines(const PackedKernels& kernels, const WindowMatrix& matrix, const std::byte* lhs,
                     uint64_t element_size, IndexRange rows, IndexRange steps, std::byte* target, uint64_t stride) {
  LinePacker packer(kernels, matrix, lhs, element_size, stride);
  ForEachRun(matrix.rows, rows, [&](const WindowPlace& run, IndexRange range) {
    for (uint64_t row = range.begin; row < range.end; ++row) {
      packer.Add(Moved(matrix, Along(matrix.rows, run, row)));
      if (!packer.IsFull()) continue;
      packer.Pack(steps, target);
      target += LinePacker::kRows * stride * kernels.accumulator_size;
    }
  });
  packer.Pack(steps, target);
}

void PackWindowPanels(const PackedKernels& kernels, const WindowMatrix& matrix, const std::byte* lhs,
                      uint64_t element_size, uint64_t run, IndexRange rows, uint64_t panels, IndexRange steps,
                      std::byte* target) {
  const PanelPacker packer(kernels, matrix, lhs, element_size);
  const WindowPlace place = Moved(matrix, WindowCursor(matrix.rows, run).place());
  const uint64_t line_bytes = kernels.panel_rows * kernels.accumulator_size;
  const uint64_t panel_bytes = (steps.end - steps.begin) * line_bytes;
  uint64_t done = 0;
  ForEachRun(matrix.steps, steps, [&](const WindowPlace& step, IndexRange range) {
    for (uint64_t panel = 0; panel < panels; ++panel) {
      const IndexRange part = PartOf(rows.end - rows.begin, panels, panel);
      const uint64_t first = rows.begin + part.begin;
      packer.Pack(place, {first, rows.begin + part.end}, step, range, target + panel * panel_bytes + done * line_bytes);
    }
    done += range.end - range.begin;
  });
}

void PackStepColumns(const PackedKernels& kernels, const WindowIndices& indices, const StepColumns& source,
                     IndexRange steps, IndexRange panels, std::byte* target) {
  const int64_t size = static_cast<int64_t>(source.element_size);
  const uint64_t depth = steps.end - steps.begin;
  if (const int64_t along = indices.UniformOther(); along != 0) {
    const std::byte* base = source.rhs + static_cast<int64_t>(steps.begin) * along * size;
    PackColumns(kernels, {base, along, source.across, source.element_size, source.columns}, depth, panels, target);
    return;
  }
  uint64_t done = 0;
  ForEachRun(indices, steps, [&](const WindowPlace& step, IndexRange range) {
    const std::byte* base = source.rhs + (step.other + static_cast<int64_t>(range.begin) * indices.run.other) * size;
    for (uint64_t panel = panels.begin; panel < panels.end; ++panel) {
      const uint64_t column = panel * kernels.panel_columns;
      const uint64_t count = std::min(kernels.panel_columns, source.columns - column);
      const uint64_t width = PackedWidth(kernels, source.columns - column);
      std::byte* to = target + (panel - panels.begin) * ColumnPanelBytes(kernels, depth);
      kernels.pack({base + static_cast<int64_t>(column) * source.across * size, indices.run.other, source.across,
                    range.end - range.begin, count},
                   width, to + done * width * kernels.accumulator_size);
    }
    done += range.end - range.begin;
  });
}

}  // namespace sgd::cpu
