// The functions of NCCL that we call, found at run time, and its errors as statuses.
#pragma once

#include <nccl.h>

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "targets/gpu/device/driver/dynamic_library.h"

namespace sgd::cuda {

#define SGD_NCCL_FUNCTIONS(F) \
  F(ncclGetVersion)           \
  F(ncclGetErrorString)       \
  F(ncclGetLastError)         \
  F(ncclGetUniqueId)          \
  F(ncclCommInitRankConfig)   \
  F(ncclCommSplit)            \
  F(ncclCommGetAsyncError)    \
  F(ncclCommFinalize)         \
  F(ncclCommDestroy)          \
  F(ncclCommAbort)            \
  F(ncclAllReduce)            \
  F(ncclReduceScatter)        \
  F(ncclAllGather)            \
  F(ncclSend)                 \
  F(ncclRecv)                 \
  F(ncclGroupStart)           \
  F(ncclGroupEnd)

// Of later versions: null where the library has them not.
#define SGD_NCCL_OPTIONAL_FUNCTIONS(F) \
  F(ncclMemAlloc, 2, 19)               \
  F(ncclMemFree, 2, 19)                \
  F(ncclCommRegister, 2, 19)           \
  F(ncclCommDeregister, 2, 19)         \
  F(ncclCommWindowRegister, 2, 27)     \
  F(ncclCommWindowDeregister, 2, 27)

// How memory can be made known to a group, so that its members read and write each other's without copies between.
enum class Registration { kNone, kLocal, kSymmetric };

class Nccl {
 public:
  // FailedPrecondition when the library is missing or older than 2.18. `deterministic`: switches do not reduce
  // (NVLink SHARP, CollNet), since their order is not guaranteed; the user's own settings (NCCL_NVLS_ENABLE,
  // NCCL_COLLNET_ENABLE) stay.
  static absl::StatusOr<std::shared_ptr<const Nccl>> Open(bool deterministic);

#define SGD_DECLARE(name) decltype(&::name) name = nullptr;
  SGD_NCCL_FUNCTIONS(SGD_DECLARE)
#undef SGD_DECLARE
#define SGD_DECLARE(name, major, minor) decltype(&::name) name = nullptr;
  SGD_NCCL_OPTIONAL_FUNCTIONS(SGD_DECLARE)
#undef SGD_DECLARE

  std::string version() const;  // e.g. 2.28.9
  // The best that this version has. Of memory of ncclMemAlloc.
  Registration registration() const;
  // OK also for work that goes on behind a call: see NcclGroup::Settle.
  absl::Status Check(ncclResult_t result, const std::string& what) const;

 private:
  explicit Nccl(DynamicLibrary library) : library_(std::move(library)) {}

  DynamicLibrary library_;
  int version_ = 0;
};

}  // namespace sgd::cuda
