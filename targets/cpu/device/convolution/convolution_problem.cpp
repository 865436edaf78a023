// The longest stretch of contiguous elements of the lhs becomes a run, of steps or of rows; everything else is ordered
// as the other operand has it in memory.
#include "targets/cpu/device/convolution/convolution_problem.h"

#include <algorithm>
#include <cstdlib>
#include <tuple>
#include <utility>
#include <vector>

#include "runtime/artifact/epilogue.h"
#include "runtime/artifact/reader.h"

namespace sgd::cpu {
namespace {

// Runs shorter than this are not worth a step of the sum out of memory's order.
constexpr uint64_t kShortRun = 8;
// Steps of part of the features with all elements of the kernel.
constexpr uint64_t kPartSteps = 384;

using Dims = std::vector<WindowIndex>;

void Add(Dims& dims, WindowIndex index) {
  if (index.size != 1) dims.push_back(index);
}

// Takes dims[index] as the run, and with it the dimension that continues it in both operands, if there is one.
void TakeRun(Dims& dims, size_t index, WindowIndices& indices) {
  indices.run = dims[index];
  dims.erase(dims.begin() + static_cast<int64_t>(index));
  if (indices.run.spatial >= 0) return;
  const auto continues = [&](const WindowIndex& dim) {
    const int64_t length = static_cast<int64_t>(indices.run.size);
    return dim.spatial >= 0 && dim.step > 0 && dim.lhs == length * indices.run.lhs &&
           dim.other == length * indices.run.other;
  };
  const auto next = std::find_if(dims.begin(), dims.end(), continues);
  if (next == dims.end()) return;
  indices.granule = indices.run.size;
  indices.run.size *= next->size;
  indices.run.spatial = next->spatial, indices.run.step = next->step;
  dims.erase(next);
}

// Length of the run that dims[index] would make, if its elements follow each other in the lhs.
uint64_t ContiguousLength(const Dims& dims, size_t index) {
  if (dims[index].lhs != 1) return 0;
  Dims rest = dims;
  WindowIndices indices;
  TakeRun(rest, index, indices);
  return indices.run.size;
}

struct Choice {
  uint64_t length = 0;
  size_t index = 0;
};

Choice LongestRun(const Dims& dims) {
  Choice best;
  for (size_t i = 0; i < dims.size(); ++i) {
    if (const uint64_t length = ContiguousLength(dims, i); length > best.length) best = {length, i};
  }
  return best;
}

void SortByOther(Dims& dims) {
  std::sort(dims.begin(), dims.end(), [](const WindowIndex& a, const WindowIndex& b) {
    return std::tie(b.other, a.spatial) < std::tie(a.other, b.spatial);
  });
}

// The innermost dimension by the order of the other operand becomes the run.
void TakeInnermost(Dims& dims, WindowIndices& indices) {
  SortByOther(dims);
  if (!dims.empty()) {
    indices.run = dims.back();
    dims.pop_back();
  }
  indices.outer = std::move(dims);
}

// Steps where the rows are runs. Lines of zeros are whole where the run does not move in space, which runs of rows that
// do rely on.
void TakeSteps(Dims& dims, bool rows_move, WindowIndices& indices) {
  SortByOther(dims);
  const auto still = std::find_if(dims.begin(), dims.end(), [](const WindowIndex& dim) { return dim.spatial < 0; });
  const bool has_still = still != dims.end();
  const bool is_short =
      !dims.empty() && dims.back().size < kShortRun && has_still && still->size >= 2 * dims.back().size;
  if (has_still && (rows_move || is_short)) {
    indices.run = *still;
    dims.erase(still);
  } else if (!rows_move && !dims.empty()) {
    indices.run = dims.back();
    dims.pop_back();
  }
  indices.outer = std::move(dims);
}

uint64_t CountRows(const artifact::Convolution& c) {
  uint64_t rows = c.batch()->size();
  for (uint32_t i = 0; i < artifact::Size(c.spatial()); ++i) rows *= c.spatial()->Get(i)->output();
  return rows;
}

// Adds the input features. Where the kernel has its elements inside of each feature, as in PyTorch's order, and is
// larger than what it meets, features are cut into parts that lie in the same block of the sum with all elements: a
// block then reads whole cache lines of the kernel.
void AddFeatures(Dims& steps, const artifact::Convolution& c) {
  const WindowIndex features{c.inputs()->size(), c.inputs()->lhs(), c.inputs()->rhs(), -1, 0};
  uint64_t elements = 1;
  bool are_inside = features.lhs == 1;
  for (uint32_t i = 0; i < artifact::Size(c.spatial()); ++i) {
    const artifact::WindowDim& dim = *c.spatial()->Get(i);
    elements *= dim.kernel();
    are_inside &= dim.kernel() == 1 || std::abs(dim.rhs()) < std::abs(features.other);
  }
  uint64_t part = std::max<uint64_t>(1, features.size);  // none at all is one part of nothing
  if (are_inside && elements > 1 && CountRows(c) < c.outputs()->size())
    while (part % 2 == 0 && part >= 2 * kShortRun && part * elements > kPartSteps) part /= 2;
  const int64_t stride = static_cast<int64_t>(part);
  Add(steps, {features.size / part, stride * features.lhs, stride * features.other, -1, 0});
  Add(steps, {part, features.lhs, features.other, -1, 0});
}

WindowMatrix WindowsOf(const artifact::Convolution& c) {
  WindowMatrix matrix;
  Dims rows, steps;
  Add(rows, {c.batch()->size(), c.batch()->lhs(), c.batch()->result(), -1, 0});
  AddFeatures(steps, c);
  matrix.spatial_dims = artifact::Size(c.spatial());
  for (uint32_t i = 0; i < matrix.spatial_dims; ++i) {
    const artifact::WindowDim& dim = *c.spatial()->Get(i);
    const int spatial = static_cast<int>(i);
    Add(rows, {dim.output(), dim.stride() * dim.lhs(), dim.result(), spatial, dim.stride()});
    Add(steps, {dim.kernel(), dim.dilation() * dim.lhs(), dim.rhs(), spatial, dim.dilation()});
    matrix.inputs[i] = dim.input();
    matrix.origin.position[i] = -dim.low();
    matrix.origin.lhs -= dim.low() * dim.lhs();
  }
  const Choice step_run = LongestRun(steps), row_run = LongestRun(rows);
  matrix.is_by_rows = row_run.length > step_run.length;
  if (matrix.is_by_rows) {
    TakeRun(rows, row_run.index, matrix.rows);
    SortByOther(rows);
    matrix.rows.outer = std::move(rows);
    TakeSteps(steps, matrix.rows.run.spatial >= 0, matrix.steps);
  } else {
    TakeInnermost(rows, matrix.rows);
    if (step_run.length > 0) {
      TakeRun(steps, step_run.index, matrix.steps);
      SortByOther(steps);
      matrix.steps.outer = std::move(steps);
    } else {
      TakeInnermost(steps, matrix.steps);
    }
  }
  return matrix;
}

}  // namespace

ConvolutionProblem ProblemOf(const artifact::Convolution& convolution, const device::MemoryMap& memory) {
  ConvolutionProblem problem;
  problem.element = convolution.element();
  problem.epilogue = artifact::EpilogueOf(convolution.epilogue());
  problem.windows = WindowsOf(convolution);
  problem.columns = convolution.outputs()->size();
  problem.groups = convolution.groups()->size();
  problem.lhs_group = convolution.groups()->lhs();
  problem.rhs_group = convolution.groups()->rhs();
  problem.result_group = convolution.groups()->result();
  problem.rhs_column = convolution.outputs()->rhs();
  problem.result_column = convolution.outputs()->result();
  if (problem.columns == 1) problem.rhs_column = problem.result_column = 1;
  problem.lhs = memory.Address(*convolution.lhs());
  problem.rhs = memory.Address(*convolution.rhs());
  problem.result = memory.Address(*convolution.result());
  if (convolution.bias() != nullptr) problem.bias = memory.Address(*convolution.bias());
  return problem;
}

}  // namespace sgd::cpu
