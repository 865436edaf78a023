// cuBLASLt's names of an instruction's types and epilogue, and the library's rules on both.
#pragma once

#include <cublasLt.h>

#include <optional>

#include "absl/status/status.h"
#include "runtime/artifact/program_generated.h"
#include "targets/gpu/device/matmul/gemm_form.h"

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

// The library's name for the epilogue, a residual aside, which is a beta of one; nothing for a list that it has not.
std::optional<cublasLtEpilogue_t> LibraryEpilogueOf(const artifact::Matmul& matmul, const GemmForm& form);

// Whether the library takes such an epilogue in this form, and operands of f8, by the rules of its header and its
// documentation; Unimplemented otherwise. The compiler makes no others.
absl::Status CheckForm(const artifact::Matmul& matmul, const GemmForm& form);

}  // namespace sgd::cuda
