// What cuBLASLt calls the types and the epilogue of an instruction.
#pragma once

#include <cublasLt.h>

#include <optional>

#include "absl/status/status.h"
#include "runtime/artifact/program_generated.h"
#include "targets/gpu/device/gemm_form.h"

namespace sgd::cuda {

// Of operands; of C, bias and aux; of sums; of alpha and beta.
struct GemmTypes {
  cudaDataType_t operand;
  cudaDataType_t result;
  cublasComputeType_t compute;
  cudaDataType_t scale;
};

// Nothing for types that the library's table of supported types has not.
std::optional<GemmTypes> GemmTypesOf(const artifact::Matmul& matmul);

bool HasBias(const artifact::Matmul& matmul);

cublasLtEpilogue_t EpilogueOf(const artifact::Matmul& matmul);

// Whether a bias or an activation of this form is one that the library takes, by the rules of its header; Unimplemented
// otherwise. The compiler makes no others.
absl::Status CheckEpilogue(const artifact::Matmul& matmul, const GemmForm& form);

}  // namespace sgd::cuda
