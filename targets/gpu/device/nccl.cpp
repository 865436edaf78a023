// Fills the table of functions; groups never block a call, so that deadlines hold.
#include "targets/gpu/device/nccl.h"

#include <utility>

#include "absl/memory/memory.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"

namespace sgd::cuda {
namespace {

constexpr int kLeastVersion = NCCL_VERSION(2, 18, 0);

template <typename Function>
absl::Status Find(const DynamicLibrary& library, const char* symbol, Function& function) {
  absl::StatusOr<void*> address = library.Find(symbol);
  if (!address.ok()) return address.status();
  function = reinterpret_cast<Function>(*address);
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::shared_ptr<const Nccl>> Nccl::Open() {
  absl::StatusOr<DynamicLibrary> library = DynamicLibrary::Open({"libnccl.so.2"}, "through which GPUs talk");
  if (!library.ok()) return library.status();
  auto nccl = std::shared_ptr<Nccl>(new Nccl(*std::move(library)));
#define SGD_FIND(name) \
  if (absl::Status status = Find(nccl->library_, #name, nccl->name); !status.ok()) return status;
  SGD_NCCL_FUNCTIONS(SGD_FIND)
#undef SGD_FIND
  if (absl::Status status = nccl->Check(nccl->ncclGetVersion(&nccl->version_), "ncclGetVersion"); !status.ok())
    return status;
  if (nccl->version_ < kLeastVersion) {
    return absl::FailedPreconditionError(
        absl::StrCat(nccl->library_.path(), " is NCCL ", nccl->version(), "; at least 2.18 is needed"));
  }
  return std::shared_ptr<const Nccl>(std::move(nccl));
}

std::string Nccl::version() const {
  return absl::StrCat(version_ / 10000, ".", version_ / 100 % 100, ".", version_ % 100);
}

absl::Status Nccl::Check(ncclResult_t result, const std::string& what) const {
  if (result == ncclSuccess || result == ncclInProgress) return absl::OkStatus();
  return absl::InternalError(absl::StrCat(what, ": NCCL: ", ncclGetErrorString(result)));
}

absl::StatusOr<std::unique_ptr<NcclGroup>> NcclGroup::Meet(std::shared_ptr<const Nccl> nccl, const ncclUniqueId& id,
                                                           uint32_t size, uint32_t position, absl::Duration timeout) {
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  config.blocking = 0;
  ncclComm_t handle = nullptr;
  const ncclResult_t result =
      nccl->ncclCommInitRankConfig(&handle, static_cast<int>(size), id, static_cast<int>(position), &config);
  if (absl::Status status = nccl->Check(result, "ranks cannot meet"); !status.ok()) return status;
  auto group = absl::WrapUnique(new NcclGroup(std::move(nccl), handle));
  if (absl::Status status = group->Settle(timeout); !status.ok()) return status;
  return group;
}

NcclGroup::~NcclGroup() { Abort(); }

absl::Status NcclGroup::Settle(absl::Duration timeout) const {
  const absl::Time deadline = absl::Now() + timeout;
  while (true) {
    ncclResult_t state = ncclSuccess;
    absl::Status status = nccl_->Check(nccl_->ncclCommGetAsyncError(group_, &state), "ncclCommGetAsyncError");
    if (status.ok()) status = nccl_->Check(state, "collective");
    if (!status.ok() || state != ncclInProgress) return status;
    if (absl::Now() > deadline)
      return absl::DeadlineExceededError(absl::StrCat("NCCL: peers have not come in ", absl::FormatDuration(timeout)));
    absl::SleepFor(absl::Microseconds(50));
  }
}

absl::Status NcclGroup::Poll() const {
  ncclResult_t state = ncclSuccess;
  absl::Status status = nccl_->Check(nccl_->ncclCommGetAsyncError(group_, &state), "ncclCommGetAsyncError");
  return status.ok() ? nccl_->Check(state, "collective") : status;
}

void NcclGroup::Abort() {
  if (ncclComm_t group = std::exchange(group_, nullptr)) nccl_->ncclCommAbort(group);
}

}  // namespace sgd::cuda
