// cuBLASLt's names of an instruction's types and epilogue, and the library's rules on both.
#pragma once

#include <cublasLt.h>

#include <optional>

#include "absl/status/status.h"
#include "runtime/artifact/program_generated.h"
#include "targets/gpu/device/gemm_form.h"

namespace sgd::cuda {

// Of the plan's A and B; of C, bias, the reduced operand and aux; of accumulators; of alpha and beta.
struct GemmTypes {
  cudaDataType_t a, b;
  cudaDataType_t result;
  cublasComputeType_t compute;
  cudaDataType_t scale;
};

// Nothing for types that the library's table of supported types has not.
std::optional<GemmTypes> GemmTypesOf(const artifact::Matmul& matmul);

bool HasBias(const artifact::Matmul& matmul);

// Whether the epilogue writes an operand's sums.
bool HasReduction(const artifact::Matmul& matmul);

cublasLtEpilogue_t EpilogueOf(const artifact::Matmul& matmul, const GemmForm& form);

// Whether the library takes such a bias, sums or activation in this form, and operands of f8, by the rules of its
// header and its documentation; Unimplemented otherwise. The compiler makes no others.
absl::Status CheckForm(const artifact::Matmul& matmul, const GemmForm& form);

}  // namespace sgd::cuda
