// The functions of cuBLASLt that we call, found at run time, and its errors as statuses.
#pragma once

#include <cublasLt.h>

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "targets/gpu/device/driver/dynamic_library.h"

namespace sgd::cuda {

#define SGD_CUBLASLT_FUNCTIONS(F)         \
  F(cublasLtCreate)                       \
  F(cublasLtDestroy)                      \
  F(cublasLtGetVersion)                   \
  F(cublasLtGetStatusString)              \
  F(cublasLtMatmul)                       \
  F(cublasLtMatmulAlgoCheck)              \
  F(cublasLtMatmulAlgoConfigGetAttribute) \
  F(cublasLtMatmulAlgoGetHeuristic)       \
  F(cublasLtMatmulDescCreate)             \
  F(cublasLtMatmulDescDestroy)            \
  F(cublasLtMatmulDescSetAttribute)       \
  F(cublasLtMatrixLayoutCreate)           \
  F(cublasLtMatrixLayoutDestroy)          \
  F(cublasLtMatrixLayoutSetAttribute)     \
  F(cublasLtMatmulPreferenceCreate)       \
  F(cublasLtMatmulPreferenceDestroy)      \
  F(cublasLtMatmulPreferenceSetAttribute)

class CublasLt {
 public:
  // FailedPrecondition when the library is missing or older than CUDA 12.
  // The newest that a driver of this CUDA version runs, such as 13000: one of CUDA 13 needs a driver of it.
  static absl::StatusOr<std::unique_ptr<CublasLt>> Open(int driver_version);
  ~CublasLt();
  CublasLt(const CublasLt&) = delete;
  CublasLt& operator=(const CublasLt&) = delete;

#define SGD_DECLARE(name) decltype(&::name) name = nullptr;
  SGD_CUBLASLT_FUNCTIONS(SGD_DECLARE)
#undef SGD_DECLARE

  cublasLtHandle_t handle() const { return handle_; }
  size_t version() const { return cublasLtGetVersion(); }  // e.g. 130002
  absl::Status Check(cublasStatus_t result, const std::string& what) const;

 private:
  explicit CublasLt(DynamicLibrary library) : library_(std::move(library)) {}

  DynamicLibrary library_;
  cublasLtHandle_t handle_ = nullptr;
};

}  // namespace sgd::cuda
