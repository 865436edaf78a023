// A convolution as the matmul of its windows and its kernel: which dimensions are rows, columns and contracted,
// and in which order.
#pragma once

#include "runtime/artifact/program_generated.h"
#include "runtime/device/device.h"
#include "runtime/library/epilogue.h"
#include "targets/cpu/device/convolution/window_matrix.h"

namespace sgd::cpu {

// For each group: C[row, column] = sum over steps of windows[row, step] * B[step, column], then the epilogue.
struct ConvolutionProblem {
  artifact::ElementType element{};
  library::Epilogue epilogue;
  WindowMatrix windows;
  uint64_t columns = 0;
  uint64_t groups = 0;
  int64_t lhs_group = 0, rhs_group = 0, result_group = 0;  // strides in elements
  int64_t rhs_column = 0, result_column = 0;
  const std::byte* lhs = nullptr;
  const std::byte* rhs = nullptr;
  std::byte* result = nullptr;
  const std::byte* bias = nullptr;  // null: none

  uint64_t Rows() const { return windows.RowCount(); }
  uint64_t Depth() const { return windows.Depth(); }
};

// Resolves a verified instruction. The order of the sum follows from sizes and strides alone.
ConvolutionProblem ProblemOf(const artifact::Convolution& convolution, const device::MemoryMap& memory);

}  // namespace sgd::cpu
