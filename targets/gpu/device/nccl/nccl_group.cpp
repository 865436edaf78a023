// Every call is followed by asking until it is complete.
#include "targets/gpu/device/nccl/nccl_group.h"

#include <chrono>
#include <utility>

#include "absl/memory/memory.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "runtime/clock/steady_clock.h"
#include "runtime/thread/spawn_thread.h"

namespace sgd::cuda {
namespace {

constexpr absl::Duration kLeave = absl::Seconds(10);  // for all members to come to their end
constexpr std::chrono::seconds kAbort(2);             // for NCCL to end by itself what is in flight

ncclConfig_t Config() {
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  config.blocking = 0;
  return config;
}

}  // namespace

absl::StatusOr<std::unique_ptr<NcclGroup>> NcclGroup::Meet(std::shared_ptr<const Nccl> nccl, const ncclUniqueId& id,
                                                           uint32_t size, uint32_t position, Host host,
                                                           absl::Duration timeout, int max_blocks) {
  auto group = absl::WrapUnique(new NcclGroup(nccl, std::move(host)));
  ncclConfig_t config = Config();
  if (max_blocks > 0) config.minCTAs = 1, config.maxCTAs = max_blocks;
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
  auto part = absl::WrapUnique(new NcclGroup(nccl_, host_));
  ncclConfig_t config = Config();
  const ncclResult_t result =
      nccl_->ncclCommSplit(group_, static_cast<int>(color), static_cast<int>(position), &part->group_, &config);
  absl::Status status = nccl_->Check(result, "ranks cannot split");
  // The new communicator is there when this one is ready again.
  if (status.ok()) status = Settle(timeout);
  if (status.ok() && part->group_ == nullptr) status = absl::InternalError("ranks cannot split: NCCL gave nothing");
  if (status.ok()) status = part->Settle(timeout);
  if (status.ok()) return part;
  static_cast<void>(part.release());  // NCCL may still write into it
  return status;
}

absl::Status NcclGroup::Register(std::byte* memory, uint64_t bytes, absl::Duration timeout) {
  if (bytes == 0) return absl::OkStatus();
  constexpr char kWhat[] = "cannot register the window (NCCL_WIN_ENABLE=0 and NCCL_LOCAL_REGISTER=0 do without)";
  switch (nccl_->registration()) {
    case Registration::kNone:
      return absl::OkStatus();
    case Registration::kLocal:
      return nccl_->Check(nccl_->ncclCommRegister(group_, memory, bytes, &registration_), kWhat);
    case Registration::kSymmetric: {
      absl::Status status =
          nccl_->Check(nccl_->ncclCommWindowRegister(group_, memory, bytes, &window_, NCCL_WIN_COLL_SYMMETRIC), kWhat);
      // The window is there when the members have come; none where the user has turned this off.
      return status.ok() ? Settle(timeout) : status;
    }
  }
  return absl::OkStatus();
}

absl::Status NcclGroup::Deregister() {
  absl::Status status;
  if (window_ != nullptr)
    status =
        nccl_->Check(nccl_->ncclCommWindowDeregister(group_, std::exchange(window_, nullptr)), "cannot deregister");
  if (registration_ != nullptr)
    status =
        nccl_->Check(nccl_->ncclCommDeregister(group_, std::exchange(registration_, nullptr)), "cannot deregister");
  return status;
}

NcclGroup::~NcclGroup() {
  if (group_ != nullptr) {
    absl::Status status = Deregister();
    if (status.ok()) status = Settle(kLeave);
    if (status.ok()) status = nccl_->Check(nccl_->ncclCommFinalize(group_), "cannot leave");
    if (status.ok()) status = Settle(kLeave);
    if (status.ok()) {
      nccl_->ncclCommDestroy(std::exchange(group_, nullptr));
    } else {
      Abort();
    }
  }
  // The process is at its end. If NCCL waits for a member that never comes, the system ends its thread.
  if (abort_.valid()) abort_.wait_for(kAbort);
}

absl::Status NcclGroup::Settle(absl::Duration timeout) const {
  const absl::Time deadline = SteadyNow() + timeout;
  while (true) {
    ncclResult_t state = ncclSuccess;
    absl::Status status = nccl_->Check(nccl_->ncclCommGetAsyncError(group_, &state), "ncclCommGetAsyncError");
    if (status.ok()) status = nccl_->Check(state, "collective");
    if (!status.ok() || state != ncclInProgress) return status;
    if (status = host_.watch(); !status.ok()) return status;
    if (SteadyNow() > deadline)
      return absl::DeadlineExceededError(
          absl::StrCat("NCCL: peers have not come in ", absl::FormatDuration(timeout),
                       "; expected all ranks; see their own output, or raise --deadline"));
    absl::SleepFor(absl::Microseconds(50));
  }
}

absl::Status NcclGroup::Poll() const {
  if (group_ == nullptr) return absl::OkStatus();  // the one who ended it knows why
  ncclResult_t state = ncclSuccess;
  absl::Status status = nccl_->Check(nccl_->ncclCommGetAsyncError(group_, &state), "ncclCommGetAsyncError");
  return status.ok() ? nccl_->Check(state, "collective") : status;
}

// On a thread of its own: ncclCommAbort tells kernels to leave at once, but then waits until no graph holds
// operations of the group, and the thread that calls this destroys these.
void NcclGroup::Abort() {
  ncclComm_t group = std::exchange(group_, nullptr);
  if (group == nullptr) return;
  const auto abort =
      std::make_shared<std::packaged_task<ncclResult_t()>>([nccl = nccl_, group, use_device = host_.use_device] {
        use_device();
        return nccl->ncclCommAbort(group);
      });
  absl::StatusOr<std::thread> thread = SpawnThread("ending collectives of NCCL", [abort] { (*abort)(); });
  if (!thread.ok()) return;  // the driver ends what is in flight with the process
  abort_ = abort->get_future();
  thread->detach();
}

}  // namespace sgd::cuda
