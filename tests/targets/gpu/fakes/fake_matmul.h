// The matmuls that the fake of cuBLASLt computes.
#pragma once

#include <cublasLt.h>

#include <cstdint>

namespace sgd::emulated {

struct MatrixLayout {
  cudaDataType type;
  uint64_t rows, columns;
  int64_t leading;
  int32_t batch = 1;
  int64_t stride = 0;

  // From the first element to behind the last one.
  uint64_t Elements() const;
};

struct MatrixDescription {
  cublasComputeType_t compute;
  cudaDataType_t scale;
  cublasOperation_t a = CUBLAS_OP_N, b = CUBLAS_OP_N;
  cublasLtEpilogue_t epilogue = CUBLASLT_EPILOGUE_DEFAULT;
  const void* bias = nullptr;  // or where a bias's gradient is written
  int32_t bias_type = -1;
  void* aux = nullptr;
  int64_t aux_leading = 0;
};

// Everything of one call, copied: the caller may change its descriptions.
struct EmulatedMatmul {
  MatrixDescription description;
  MatrixLayout a, b, d;
  uint64_t m, n, k;
  const void *a_data, *b_data;
  void* d_data;
  double alpha, beta;
  void* workspace;
  uint64_t workspace_bytes;
  bool is_slow;  // an algorithm that takes some milliseconds
};

bool HasBias(cublasLtEpilogue_t epilogue);
// An operand's sums over k.
bool HasReduction(cublasLtEpilogue_t epilogue);
bool HasAux(cublasLtEpilogue_t epilogue);

// Three loops, sums in the compute type; the workspace is overwritten. False when memory that the call names is not the
// GPU's.
bool Multiply(const EmulatedMatmul& matmul);

}  // namespace sgd::emulated
