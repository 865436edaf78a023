// Elementwise reductions over contiguous elements, in the order of reduction_tree.h; the same bits on every processor.
// bf16 and f16 are accumulated in f32. max and min propagate NaN and order -0 below +0. Integers wrap around.
#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/comm/collectives/element_type.h"
#include "runtime/comm/kernels/reduction_tree.h"

namespace sgd::comm {

// Sources that a kernel reduces at once, powers of two: to accumulators, and to targets without accumulators between.
inline constexpr uint32_t kTreeLeaves = 4;
inline constexpr uint32_t kDirectSources = 8;

// Pointers are aligned to their element size. Ranges do not overlap, except that `join` updates in place and that
// targets of `direct` may be sources.
struct ReduceKernel {
  // accumulator[i] = tree over sources[0][i], sources[1][i], ...
  using Leaves = void (*)(const std::byte* const* sources, void* accumulator, size_t count);
  // targets[0][i] = targets[1][i] = ... = round(tree over sources[0][i], sources[1][i], ...)
  using Direct = void (*)(const std::byte* const* sources, std::byte* const* targets, size_t target_count,
                          size_t count);

  uint32_t accumulator_size;   // bytes per element of the accumulator
  Leaves leaves[kTreeLeaves];  // leaves[i] takes i + 1 sources, as do those below
  // left[i] = left[i] op right[i], both accumulators
  void (*join)(void* left, const void* right, size_t count);
  // result[i] = round(accumulator[i]); null where the accumulator's type is the element's.
  void (*finish)(const void* accumulator, void* result, size_t count);
  // Null except for sums of two and more floats, which are worth kernels of their own. With `streamed` results bypass
  // the caches, and targets begin on a cache line.
  Direct direct[kDirectSources];
  Direct streamed[kDirectSources];
};

// The fastest kernel for this processor; null where the reduction is not defined for the element
// type (and/or on floating point, add/mul on booleans).
const ReduceKernel* FindReduceKernel(ElementType element, ReduceKind reduce);

// The same code for the oldest supported x86-64 and for processors with AVX2 and F16C.
const ReduceKernel* FindBaselineReduceKernel(ElementType element, ReduceKind reduce);
const ReduceKernel* FindAvx2ReduceKernel(ElementType element, ReduceKind reduce);

}  // namespace sgd::comm
