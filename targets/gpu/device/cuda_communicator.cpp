// Groups of ranks, and waits for them.
#include "targets/gpu/device/cuda_communicator.h"

#include <algorithm>
#include <utility>

#include "absl/memory/memory.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"

namespace sgd::cuda {
namespace {

// How long the cause of an error in NCCL, as a peer's death, may take to come over the control channel.
constexpr absl::Duration kCause = absl::Milliseconds(300);
// By how much deadlines of ranks that wait for each other may differ.
constexpr absl::Duration kSkew = absl::Seconds(2);

std::vector<uint32_t> KeyOf(const std::vector<comm::AxisRef>& axes) {
  std::vector<uint32_t> key;
  for (const comm::AxisRef& axis : axes) key.insert(key.end(), {axis.axis, axis.pre_size, axis.size});
  return key;
}

}  // namespace

absl::StatusOr<std::unique_ptr<CudaCommunicator>> CudaCommunicator::Create(CudaDevice& device, comm::Control& control,
                                                                           uint64_t window_bytes,
                                                                           absl::Duration timeout) {
  auto communicator = absl::WrapUnique(new CudaCommunicator(device, control, timeout));
  absl::StatusOr<std::unique_ptr<device::Arena>> window = device.Allocate(window_bytes);
  if (!window.ok()) return window.status();
  communicator->window_ = *std::move(window);
  return communicator;
}

absl::StatusOr<comm::CollectiveHandle> CudaCommunicator::Prepare(const comm::Mesh& mesh,
                                                                 const comm::CollectiveSpec& spec) {
  if (absl::Status status = comm::CheckSpec(mesh, spec, window_bytes()); !status.ok()) return status;
  const uint32_t index = static_cast<uint32_t>(collectives_.size());
  absl::StatusOr<comm::CollectivePlan> plan = comm::MakeCollectivePlan(mesh, spec, control_.rank(), index, 0);
  if (!plan.ok()) return plan.status();
  Collective collective;
  collective.description = plan->description;
  collective.sent_bytes = plan->sent_bytes;
  if (plan->members.size() > 1) {
    absl::StatusOr<NcclGroup*> group = GroupOf(spec.axes, *plan);
    if (!group.ok()) return group.status();
    collective.group = *group;
  }
  const ActionPlace place{
      .driver = &device_.cuda_streams().driver(), .nccl = nccl_.get(), .group = collective.group, .window = window()};
  absl::StatusOr<std::vector<Action>> actions = MakeActions(place, mesh, spec, *plan);
  if (!actions.ok()) {
    return absl::Status(actions.status().code(),
                        absl::StrCat(collective.description, ": ", actions.status().message()));
  }
  collective.actions = *std::move(actions);
  collectives_.push_back(std::move(collective));
  return comm::CollectiveHandle{index};
}

absl::Status CudaCommunicator::OpenNccl() {
  absl::StatusOr<std::shared_ptr<const Nccl>> nccl = device_.nccl();
  if (!nccl.ok()) return nccl.status();
  absl::StatusOr<std::unique_ptr<ProgressMark>> mark = device_.MakeProgressMark();
  if (!mark.ok()) return mark.status();
  mark_ = *std::move(mark);
  nccl_ = *std::move(nccl);
  return absl::OkStatus();
}

absl::StatusOr<NcclGroup*> CudaCommunicator::GroupOf(const std::vector<comm::AxisRef>& axes,
                                                     const comm::CollectivePlan& plan) {
  std::unique_ptr<NcclGroup>& group = groups_[KeyOf(axes)];
  if (group != nullptr) return group.get();
  if (nccl_ == nullptr) {
    if (absl::Status status = OpenNccl(); !status.ok()) return status;
  }
  absl::StatusOr<std::unique_ptr<NcclGroup>> met =
      world_ != nullptr ? world_->Split(plan.members[0], plan.position, timeout_) : MeetById(plan);
  absl::Status status = met.status();
  if (status.ok()) status = (*met)->Register(window(), window_bytes(), timeout_);
  if (!status.ok()) return absl::Status(status.code(), absl::StrCat(plan.description, ": ", status.message()));
  group = *std::move(met);
  const bool is_in_order = std::ranges::is_sorted(plan.members);
  if (plan.members.size() == control_.size() && is_in_order && world_ == nullptr) world_ = group.get();
  return group.get();
}

// The first member of each group makes its id, and every rank sees all of them.
absl::StatusOr<std::unique_ptr<NcclGroup>> CudaCommunicator::MeetById(const comm::CollectivePlan& plan) {
  ncclUniqueId id{};
  std::string mine;
  if (plan.position == 0) {
    absl::Status status = nccl_->Check(nccl_->ncclGetUniqueId(&id), "cannot make an id");
    if (!status.ok()) return status;
    mine.assign(id.internal, sizeof(id.internal));
  }
  absl::StatusOr<std::vector<std::string>> all = control_.AllGatherBytes(mine, timeout_);
  if (!all.ok()) return all.status();
  const std::string& theirs = (*all)[plan.members[0]];
  if (theirs.size() != sizeof(id.internal)) return absl::InternalError("a rank gave no id of its group");
  std::copy(theirs.begin(), theirs.end(), id.internal);
  return NcclGroup::Meet(
      nccl_, id, static_cast<uint32_t>(plan.members.size()), plan.position,
      {.watch = [this] { return control_.Poll(); }, .use_device = [device = &device_] { device->UseOnThisThread(); }},
      timeout_);
}

absl::Status CudaCommunicator::Enqueue(comm::CollectiveHandle handle) {
  const Collective& collective = collectives_[handle.index];
  const CUstream stream = device_.cuda_streams().used();
  absl::Status status;
  if (collective.group != nullptr) status = mark_->Set(handle.index + 1, stream);
  for (const Action& action : collective.actions) {
    if (status.ok()) status = action(stream);
    if (status.ok() && collective.group != nullptr) status = collective.group->Settle(timeout_);
    if (!status.ok()) return absl::Status(status.code(), absl::StrCat(collective.description, ": ", status.message()));
  }
  sent_bytes_ += collective.sent_bytes;
  return status;
}

absl::Status CudaCommunicator::Poll() {
  absl::Status status = control_.Poll();
  for (const auto& [axes, group] : groups_) {
    if (status.ok() && group != nullptr) status = group->Poll();
    if (status.ok()) continue;
    // A peer that has gone is an error of NCCL here; who it was is known to the control channel.
    const absl::Time end = absl::Now() + kCause;
    while (absl::Now() < end) {
      if (absl::Status cause = control_.Poll(); !cause.ok()) return cause;
      absl::SleepFor(absl::Milliseconds(1));
    }
    return status;
  }
  return status;
}

absl::Status CudaCommunicator::Late(absl::Duration waited) {
  const uint32_t mark = mark_ == nullptr ? 0 : mark_->Read();
  const std::string where = mark == 0 || mark > collectives_.size()
                                ? "no collective of the GPU has begun"
                                : absl::StrCat("the GPU is at ", collectives_[mark - 1].description);
  // Ranks that wait for each other come here at about the same time.
  const absl::Status missing = control_.Barrier(kSkew);
  if (missing.code() != absl::StatusCode::kOk && missing.code() != absl::StatusCode::kDeadlineExceeded) return missing;
  return absl::DeadlineExceededError(
      absl::StrCat(where, ", and has not come to the end in ", absl::FormatDuration(waited),
                   missing.ok() ? "; all ranks wait" : absl::StrCat("; of those who wait, ", missing.message())));
}

absl::Status CudaCommunicator::Execute(comm::CollectiveHandle handle, absl::Duration timeout) {
  if (absl::Status status = Start(handle, timeout); !status.ok()) return status;
  return Wait(handle, timeout);
}

absl::Status CudaCommunicator::Start(comm::CollectiveHandle handle, absl::Duration timeout) {
  collectives_[handle.index].has_started = true;
  return Enqueue(handle);
}

absl::Status CudaCommunicator::Wait(comm::CollectiveHandle handle, absl::Duration timeout) {
  Collective& collective = collectives_[handle.index];
  if (!std::exchange(collective.has_started, false)) {
    return absl::FailedPreconditionError(absl::StrCat(collective.description, " is waited for, but was not started"));
  }
  const absl::Time deadline = absl::Now() + timeout;
  while (true) {
    absl::StatusOr<bool> is_idle = device_.cuda_streams().IsIdle();
    if (!is_idle.ok()) return is_idle.status();
    if (*is_idle) return absl::OkStatus();
    if (absl::Status status = Poll(); !status.ok()) return status;
    if (absl::Now() > deadline) return Late(timeout);
  }
}

void CudaCommunicator::EndJob(const absl::Status& cause) {
  control_.Abort(cause);
  for (const auto& [axes, group] : groups_) {
    if (group != nullptr) group->Abort();
  }
}

}  // namespace sgd::cuda
