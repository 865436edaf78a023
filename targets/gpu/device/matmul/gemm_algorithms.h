// Selects the algorithms of cuBLASLt that a matmul may use: those that give the same bits every time, within the plan's
// workspace.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "targets/gpu/device/matmul/cublas_lt.h"

namespace sgd::cuda {

// A described matmul; C and D are one matrix. The handles are the caller's.
struct GemmRequest {
  cublasLtMatmulDesc_t description;
  cublasLtMatrixLayout_t a, b, c;
  std::array<uint32_t, 4> alignments;  // in bytes, of A, B, C and D in every call and batch: powers of two up to 256
  uint64_t workspace_bytes;
};

// The library's best by its own estimate, at least one and at most `count`; Unimplemented, with the library's words,
// when there is none.
absl::StatusOr<std::vector<cublasLtMatmulAlgo_t>> ProposeAlgorithms(const CublasLt& library, const GemmRequest& request,
                                                                    int count);

// `bytes` of an algorithm that came from a file or another rank, when the library accepts it for this matmul; else why
// it must not be used.
absl::StatusOr<cublasLtMatmulAlgo_t> CheckAlgorithm(const CublasLt& library, const GemmRequest& request,
                                                    std::string_view bytes);

std::string BytesOf(const cublasLtMatmulAlgo_t& algorithm);

}  // namespace sgd::cuda
