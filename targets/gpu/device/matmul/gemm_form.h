// A matmul of the plan in the form of BLAS libraries: column-major matrices with a leading dimension, one batch
// dimension.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/artifact/program_generated.h"

namespace sgd::cuda {

// C[m, n] = op(A)[m, k] * op(B)[k, n], column-major, `batch` times. All distances in elements.
struct GemmForm {
  // A and B of this form are B and A of the plan, and C is transposed: so that the plan's row-major C is column-major.
  // Then the bias has an element per row.
  bool is_swapped = false;
  uint64_t m = 0, n = 0, k = 0;
  bool transposes_a = false, transposes_b = false;  // whether memory holds [k, m] and [n, k]
  uint64_t a_leading = 1, b_leading = 1, c_leading = 1;
  uint64_t batch = 1;
  int64_t a_stride = 0, b_stride = 0, c_stride = 0;  // from one batch to the next; 0 shares an operand

  // Where each call begins: batch dimensions that are not one stride apart take several.
  struct Offsets {
    int64_t a = 0, b = 0, c = 0;
  };
  std::vector<Offsets> calls;
};

// Of a verified instruction. Unimplemented, saying which operand is strided how, when a matrix has no dimension of
// stride 1, overlaps itself, or needs more than 1024 calls.
absl::StatusOr<GemmForm> GemmFormOf(const artifact::Matmul& matmul);

}  // namespace sgd::cuda
