// Fills the table of functions.
#include "targets/gpu/device/matmul/cublas_lt.h"

#include <string>
#include <vector>

#include "absl/memory/memory.h"
#include "absl/strings/str_cat.h"

namespace sgd::cuda {

absl::StatusOr<std::unique_ptr<CublasLt>> CublasLt::Open(int driver_version) {
  std::vector<std::string> names = {"libcublasLt.so.12"};
  if (driver_version >= 13000) names.insert(names.begin(), "libcublasLt.so.13");
  absl::StatusOr<DynamicLibrary> library = DynamicLibrary::Open(names, "which computes matmuls");
  if (!library.ok()) return library.status();
  auto cublas = absl::WrapUnique(new CublasLt(*std::move(library)));
#define SGD_FIND(name) \
  if (absl::Status status = cublas->library_.Find(#name, cublas->name); !status.ok()) return status;
  SGD_CUBLASLT_FUNCTIONS(SGD_FIND)
#undef SGD_FIND
  absl::Status status = cublas->Check(cublas->cublasLtCreate(&cublas->handle_), "cannot start cuBLASLt");
  if (!status.ok()) return status;
  return cublas;
}

CublasLt::~CublasLt() {
  if (handle_ != nullptr) cublasLtDestroy(handle_);
}

absl::Status CublasLt::Check(cublasStatus_t result, const std::string& what) const {
  if (result == CUBLAS_STATUS_SUCCESS) return absl::OkStatus();
  const std::string message = absl::StrCat(what, ": ", cublasLtGetStatusString(result));
  return result == CUBLAS_STATUS_ALLOC_FAILED ? absl::ResourceExhaustedError(message) : absl::InternalError(message);
}

}  // namespace sgd::cuda
