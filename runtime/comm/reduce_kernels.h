// Elementwise reductions over contiguous elements, in the order in which sources are given; the
// same bits on every processor. bf16 and f16 are accumulated in f32. max and min propagate NaN and
// order -0 below +0. Integers wrap around.
#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/comm/element_type.h"

namespace sgd::comm {

// Pointers are aligned to their element size and ranges do not overlap, except that `accumulate`
// updates in place.
struct ReduceKernel {
  uint32_t accumulator_size;  // bytes per element of the accumulator
  // accumulator[i] = a[i] op b[i]
  void (*start)(const void* a, const void* b, void* accumulator, size_t count);
  // accumulator[i] = accumulator[i] op source[i]
  void (*accumulate)(void* accumulator, const void* source, size_t count);
  // result[i] = round(accumulator[i]); null where the accumulator's type is the element's.
  void (*finish)(const void* accumulator, void* result, size_t count);
};

// The fastest kernel for this processor; null where the reduction is not defined for the element
// type (and/or on floating point, add/mul on booleans).
const ReduceKernel* FindReduceKernel(ElementType element, ReduceKind reduce);

// The same code for the oldest supported x86-64 and for processors with AVX2 and F16C.
const ReduceKernel* FindBaselineReduceKernel(ElementType element, ReduceKind reduce);
const ReduceKernel* FindAvx2ReduceKernel(ElementType element, ReduceKind reduce);

}  // namespace sgd::comm
