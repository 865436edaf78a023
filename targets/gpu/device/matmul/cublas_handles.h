// Descriptions that cuBLASLt makes, each destroyed once.
#pragma once

#include "targets/gpu/device/matmul/cublas_lt.h"

namespace sgd::cuda {

// Something the library made; Destroy is a member of CublasLt, which must outlive it.
template <typename Handle, auto Destroy>
class LtHandle {
 public:
  explicit LtHandle(const CublasLt& library) : library_(library) {}
  LtHandle(const LtHandle&) = delete;
  LtHandle& operator=(const LtHandle&) = delete;
  ~LtHandle() {
    if (handle_ != nullptr) (library_.*Destroy)(handle_);
  }
  Handle* address() { return &handle_; }
  Handle get() const { return handle_; }

 private:
  const CublasLt& library_;
  Handle handle_ = nullptr;
};

using LtDescription = LtHandle<cublasLtMatmulDesc_t, &CublasLt::cublasLtMatmulDescDestroy>;
using LtLayout = LtHandle<cublasLtMatrixLayout_t, &CublasLt::cublasLtMatrixLayoutDestroy>;
using LtPreference = LtHandle<cublasLtMatmulPreference_t, &CublasLt::cublasLtMatmulPreferenceDestroy>;

}  // namespace sgd::cuda
