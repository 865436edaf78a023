// A convolution of groups as its windows are walked: spatial dimensions that are read forwards, the innermost by
// itself.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "runtime/artifact/program_generated.h"
#include "runtime/device/device.h"
#include "runtime/library/epilogue.h"

namespace sgd::cpu {

// A spatial dimension whose kernel is read forwards; strides count elements.
struct WindowSpace {
  int64_t input = 1, output = 1, kernel = 1;
  int64_t stride = 1, dilation = 1, low = 0;
  int64_t lhs = 0, rhs = 0, result = 0;
};

struct GroupedProblem {
  uint64_t batch = 1, groups = 1, inputs = 1, outputs = 1;
  int64_t lhs_batch = 0, lhs_group = 0, lhs_input = 0;
  int64_t rhs_group = 0, rhs_input = 0, rhs_output = 0;
  int64_t result_batch = 0;
  std::vector<WindowSpace> outer;  // all but the innermost dimension
  WindowSpace inner;
  library::Epilogue epilogue;
  const std::byte* lhs = nullptr;
  const std::byte* rhs = nullptr;  // of the first element that is read
  std::byte* result = nullptr;
  const std::byte* bias = nullptr;
};

// Of a verified instruction whose sizes and strides are moderate.
GroupedProblem GroupedProblemOf(const artifact::Convolution& convolution, const device::MemoryMap& memory);

// Coordinates of number `index` of the places along dimensions of such a size (a member of WindowSpace), row-major.
std::vector<int64_t> Coordinates(const std::vector<WindowSpace>& dims, int64_t WindowSpace::* size, uint64_t index);

// Of the sizes of all dimensions.
uint64_t Product(const std::vector<WindowSpace>& dims, int64_t WindowSpace::* size);

}  // namespace sgd::cpu
