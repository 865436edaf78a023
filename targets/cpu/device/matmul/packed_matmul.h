// One matmul on the calling thread: any sizes, any strides, every element type but bool.
#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/library/epilogue.h"
#include "targets/cpu/device/matmul/packed_kernels.h"

namespace sgd::cpu {

// C[i, j] = sum over k of A[i, k] * B[k, j], then the epilogue. Strides are in elements and may be anything, for C as
// long as its elements do not overlap.
struct StridedMatmul {
  artifact::ElementType element{};
  library::Epilogue epilogue;
  uint64_t m = 0, n = 0, k = 0;
  const std::byte* a = nullptr;
  int64_t a_m = 0, a_k = 0;
  const std::byte* b = nullptr;
  int64_t b_k = 0, b_n = 0;
  std::byte* c = nullptr;
  int64_t c_m = 0, c_n = 1;          // quickest with a c_n of 1
  bool writes_accumulators = false;  // C and bias are of the accumulator type
  const std::byte* bias = nullptr;   // of the epilogues with one: contiguous, n elements,
  bool bias_per_row = false;         // or m
};

// Bytes that PackedMultiply needs for matmuls of at most these sizes, whatever their strides.
uint64_t PackedScratchBytes(const PackedKernels& kernels, uint64_t m, uint64_t n, uint64_t k);

// `kernels`: PackedKernelsFor the element type. `scratch`: PackedScratchBytes bytes, aligned to 64; it holds nothing
// between calls. Neither allocates nor fails. Integers wrap around; f16 and bf16 accumulate in f32, then
// round once. The bits depend on sizes and strides alone.
void PackedMultiply(const PackedKernels& kernels, const StridedMatmul& matmul, std::byte* scratch);

}  // namespace sgd::cpu
