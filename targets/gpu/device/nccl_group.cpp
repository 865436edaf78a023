// Every call is followed by asking until it is complete.
#include "targets/gpu/device/nccl_group.h"

#include <utility>

#include "absl/memory/memory.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"

namespace sgd::cuda {
namespace {

constexpr absl::Duration kLeave = absl::Seconds(10);  // for all members to come to their end

ncclConfig_t Config() {
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  config.blocking = 0;
  return config;
}

}  // namespace

absl::StatusOr<std::unique_ptr<NcclGroup>> NcclGroup::Meet(std::shared_ptr<const Nccl> nccl, const ncclUniqueId& id,
                                                           uint32_t size, uint32_t position, Watch watch,
                                                           absl::Duration timeout) {
  auto group = absl::WrapUnique(new NcclGroup(nccl, std::move(watch)));
  ncclConfig_t config = Config();
  const ncclResult_t result =
      nccl->ncclCommInitRankConfig(&group->group_, static_cast<int>(size), id, static_cast<int>(position), &config);
  absl::Status status = nccl->Check(result, "ranks cannot meet");
  if (status.ok()) status = group->Settle(timeout);
  if (status.ok()) return group;
  group->Abort();
  return status;
}

absl::StatusOr<std::unique_ptr<NcclGroup>> NcclGroup::Split(uint32_t color, uint32_t position,
                                                            absl::Duration timeout) const {
  auto part = absl::WrapUnique(new NcclGroup(nccl_, watch_));
  ncclConfig_t config = Config();
  const ncclResult_t result =
      nccl_->ncclCommSplit(group_, static_cast<int>(color), static_cast<int>(position), &part->group_, &config);
  absl::Status status = nccl_->Check(result, "ranks cannot split");
  // The new communicator is there when this one is ready again.
  if (status.ok()) status = Settle(timeout);
  if (status.ok() && part->group_ == nullptr) status = absl::InternalError("ranks cannot split: NCCL gave nothing");
  if (status.ok()) status = part->Settle(timeout);
  if (status.ok()) return part;
  part->Abort();
  static_cast<void>(part.release());  // NCCL may still write into it
  return status;
}

NcclGroup::~NcclGroup() {
  if (group_ == nullptr) return;
  absl::Status status = nccl_->Check(nccl_->ncclCommFinalize(group_), "cannot leave");
  if (status.ok()) status = Settle(kLeave);
  if (status.ok()) {
    nccl_->ncclCommDestroy(std::exchange(group_, nullptr));
  } else {
    Abort();
  }
}

absl::Status NcclGroup::Settle(absl::Duration timeout) const {
  const absl::Time deadline = absl::Now() + timeout;
  while (true) {
    ncclResult_t state = ncclSuccess;
    absl::Status status = nccl_->Check(nccl_->ncclCommGetAsyncError(group_, &state), "ncclCommGetAsyncError");
    if (status.ok()) status = nccl_->Check(state, "collective");
    if (!status.ok() || state != ncclInProgress) return status;
    if (status = watch_(); !status.ok()) return status;
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
