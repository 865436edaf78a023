// Fills the table of functions.
#include "targets/gpu/device/nccl/nccl.h"

#include <stdlib.h>

#include <utility>

#include "absl/strings/str_cat.h"

namespace sgd::cuda {
namespace {

constexpr int kLeastVersion = NCCL_VERSION(2, 18, 0);

}  // namespace

absl::StatusOr<std::shared_ptr<const Nccl>> Nccl::Open(bool deterministic) {
  // Read by NCCL when its first communicator is made.
  for (const char* sums_in_switches : {"NCCL_NVLS_ENABLE", "NCCL_COLLNET_ENABLE"}) {
    if (deterministic) setenv(sums_in_switches, "0", /*overwrite=*/0);
  }
  absl::StatusOr<DynamicLibrary> library = DynamicLibrary::Open({"libnccl.so.2"}, "through which GPUs talk");
  if (!library.ok()) return library.status();
  auto nccl = std::shared_ptr<Nccl>(new Nccl(*std::move(library)));
#define SGD_FIND(name) \
  if (absl::Status status = nccl->library_.Find(#name, nccl->name); !status.ok()) return status;
  SGD_NCCL_FUNCTIONS(SGD_FIND)
#undef SGD_FIND
  if (absl::Status status = nccl->Check(nccl->ncclGetVersion(&nccl->version_), "ncclGetVersion"); !status.ok())
    return status;
  if (nccl->version_ < kLeastVersion) {
    return absl::FailedPreconditionError(
        absl::StrCat(nccl->library_.path(), " is NCCL ", nccl->version(), "; at least 2.18 is needed"));
  }
#define SGD_FIND(name, major, minor)                              \
  if (nccl->version_ >= NCCL_VERSION(major, minor, 0)) {          \
    absl::Status status = nccl->library_.Find(#name, nccl->name); \
    if (!status.ok()) return status;                              \
  }
  SGD_NCCL_OPTIONAL_FUNCTIONS(SGD_FIND)
#undef SGD_FIND
  return std::shared_ptr<const Nccl>(std::move(nccl));
}

Registration Nccl::registration() const {
  if (ncclCommWindowRegister != nullptr) return Registration::kSymmetric;
  return ncclCommRegister != nullptr ? Registration::kLocal : Registration::kNone;
}

std::string Nccl::version() const {
  return absl::StrCat(version_ / 10000, ".", version_ / 100 % 100, ".", version_ % 100);
}

absl::Status Nccl::Check(ncclResult_t result, const std::string& what) const {
  if (result == ncclSuccess || result == ncclInProgress) return absl::OkStatus();
  const char* detail = ncclGetLastError(nullptr);
  return absl::InternalError(absl::StrCat(what, ": NCCL: ", ncclGetErrorString(result),
                                          detail == nullptr || *detail == '\0' ? "" : ": ",
                                          detail == nullptr ? "" : detail));
}

}  // namespace sgd::cuda
