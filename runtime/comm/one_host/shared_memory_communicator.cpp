// Every collective is: announce, (stage), arrive, wait for the group, reduce or copy from the
// peers' memory, arrive again, and, where peers read windows, wait until they have done so. One that
// is started without a thread arrives at once and does the rest when it is waited for, so that ranks
// need not come to it at the same time.
#include "runtime/comm/one_host/shared_memory_communicator.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"

namespace sgd::comm {
namespace {

// Staging trades copies for one wait less. With a core per rank a wait is cheap, so only little is
// staged (4 KiB all-reduced by two ranks: 0.7 us unstaged, 1.5 us staged); where ranks share cores
// a wait is a switch (4 ranks on 2 cores: 21 and 9 us).
constexpr uint64_t kStagedBytes = 512;

}  // namespace

SharedMemoryCommunicator::SharedMemoryCommunicator(std::unique_ptr<SharedMemoryControl> control)
    : control_(std::move(control)),
      segment_(control_->segment()),
      barrier_(control_->barrier()),
      scratch_(control_->size()) {
  sources_.resize(control_->size());
  targets_.reserve(control_->size());
}

SharedMemoryCommunicator::~SharedMemoryCommunicator() {
  if (control_->under_way() != 0) control_->Abort(absl::CancelledError("left while a collective was in flight"));
}

absl::StatusOr<std::unique_ptr<SharedMemoryCommunicator>> SharedMemoryCommunicator::Connect(
    std::shared_ptr<SharedMemorySegment> segment, uint32_t rank, absl::Duration timeout, uint32_t core_limit,
    std::vector<uint32_t> job_ranks) {
  absl::StatusOr<std::unique_ptr<SharedMemoryControl>> control =
      SharedMemoryControl::Connect(std::move(segment), rank, timeout, core_limit, std::move(job_ranks));
  if (!control.ok()) return control.status();
  return std::unique_ptr<SharedMemoryCommunicator>(new SharedMemoryCommunicator(*std::move(control)));
}

absl::Status SharedMemoryCommunicator::StartThread(bool has_own_core) {
  absl::StatusOr<std::unique_ptr<CollectiveThread>> thread = CollectiveThread::Start(
      [this](uint32_t index, absl::Duration timeout) { return Run(index, timeout); }, has_own_core);
  if (!thread.ok()) return thread.status();
  if (!has_own_core) barrier_.set_shares_cores(true);
  thread_ = *std::move(thread);
  return absl::OkStatus();
}

absl::StatusOr<CollectiveHandle> SharedMemoryCommunicator::Prepare(const Mesh& mesh, const CollectiveSpec& spec) {
  if (mesh.ranks() != control_->size()) {
    return absl::InvalidArgumentError(
        absl::StrCat("a mesh of ", mesh.ranks(), " ranks in a job of ", control_->size(),
                     "; expected one number; start as many ranks as the artifact is for"));
  }
  if (absl::Status status = CheckSpec(mesh, spec, window_bytes()); !status.ok()) return status;
  const uint32_t index = static_cast<uint32_t>(plans_.size());
  absl::StatusOr<CollectivePlan> plan = MakeCollectivePlan(mesh, spec, rank(), index, staged_limit());
  if (!plan.ok()) return plan.status();
  return AddPlan(*std::move(plan), /*runs_on_host=*/true);
}

uint64_t SharedMemoryCommunicator::staged_limit() const {
  return control_->cores() < control_->size() ? SharedMemorySegment::kSlotBytes : kStagedBytes;
}

CollectiveHandle SharedMemoryCommunicator::AddPlan(CollectivePlan plan, bool runs_on_host) {
  if (runs_on_host) MapPeers(plan);
  plans_.push_back(std::make_unique<const CollectivePlan>(std::move(plan)));
  control_->AddName(plans_.back()->description);
  progress_.emplace_back();
  return CollectiveHandle{static_cast<uint32_t>(plans_.size() - 1)};
}

namespace {
// Whether ranges of `operand` come from rank `peer`, one of the group's `members`.
bool ReadsFrom(const OperandPlan& operand, absl::Span<const uint32_t> members, uint32_t peer) {
  return std::any_of(operand.range.copies.begin(), operand.range.copies.end(),
                     [&](const MemberCopy& copy) { return members[copy.position] == peer; });
}
}  // namespace

// Page faults belong before the first step.
void SharedMemoryCommunicator::MapPeers(const CollectivePlan& plan) {
  if (plan.is_staged) return;
  for (uint32_t peer : plan.members) {
    if (peer == rank()) continue;
    for (const OperandPlan& operand : plan.operands) {
      if (plan.kind == CollectiveKind::kGatherRange && !ReadsFrom(operand, plan.members, peer)) continue;
      segment_.MapWindow(peer, operand.source_offset, operand.source_bytes);
      if (plan.pushes) segment_.MapWindow(peer, operand.target_offset, operand.source_bytes);
    }
  }
}

absl::Status SharedMemoryCommunicator::Execute(CollectiveHandle handle, absl::Duration timeout) {
  if (absl::Status status = CheckPrepared(handle); !status.ok()) return status;
  if (thread_ == nullptr || control_->under_way() == 0) return Run(handle.index, timeout);
  return thread_->Wait(thread_->Enqueue(handle.index, timeout));
}

absl::Status SharedMemoryCommunicator::Start(CollectiveHandle handle, absl::Duration timeout) {
  if (absl::Status status = CheckPrepared(handle); !status.ok()) return status;
  const CollectivePlan& plan = *plans_[handle.index];
  Progress& progress = progress_[handle.index];
  if (progress.is_under_way) {
    return absl::FailedPreconditionError(absl::StrCat(plan.description, " is in flight already"));
  }
  progress = {};
  progress.is_under_way = true;
  control_->set_under_way(control_->under_way() + 1);
  if (thread_ != nullptr) {
    progress.ticket = thread_->Enqueue(handle.index, timeout);
    return absl::OkStatus();
  }
  // A short collective is not worth a second look.
  if (plan.members.size() == 1 || plan.is_staged) return Run(handle.index, timeout);
  progress.wait = BeginStep(handle, progress.collective);
  return absl::OkStatus();
}

absl::Status SharedMemoryCommunicator::Wait(CollectiveHandle handle, absl::Duration timeout) {
  if (absl::Status status = CheckPrepared(handle); !status.ok()) return status;
  const CollectivePlan& plan = *plans_[handle.index];
  Progress& progress = progress_[handle.index];
  if (!progress.is_under_way) {
    return absl::FailedPreconditionError(absl::StrCat(plan.description, " was not started"));
  }
  absl::Status status =
      thread_ != nullptr ? thread_->Wait(progress.ticket) : Complete(progress.collective, progress.wait, timeout);
  progress.is_under_way = false;
  control_->set_under_way(control_->under_way() - 1);
  return status;
}

absl::StatusOr<ChannelHandle> SharedMemoryCommunicator::PrepareChannel(const ChannelSpec& spec) {
  return AddChannel(spec, spec.peer);
}

absl::StatusOr<ChannelHandle> SharedMemoryCommunicator::AddChannel(const ChannelSpec& spec, uint32_t peer) {
  absl::StatusOr<ChannelEnd> end = ChannelEnd::Open(*control_, peer, spec);
  if (!end.ok()) return end.status();
  channels_.push_back(*std::move(end));
  return ChannelHandle{static_cast<uint32_t>(channels_.size() - 1)};
}

absl::Status SharedMemoryCommunicator::Send(ChannelHandle handle, const std::byte* source, absl::Duration timeout) {
  if (handle.index >= channels_.size() || !channels_[handle.index].sends())
    return absl::InvalidArgumentError(absl::StrCat("channel #", handle.index, " was not prepared for sending"));
  absl::Status status = channels_[handle.index].Send(source, timeout, control_->barrier().shares_cores());
  if (status.ok()) sent_by_channels_ += channels_[handle.index].message_bytes();
  return status;
}

absl::Status SharedMemoryCommunicator::Receive(ChannelHandle handle, std::byte* target, absl::Duration timeout) {
  if (handle.index >= channels_.size() || channels_[handle.index].sends())
    return absl::InvalidArgumentError(absl::StrCat("channel #", handle.index, " was not prepared for receiving"));
  return channels_[handle.index].Receive(target, timeout, control_->barrier().shares_cores());
}

absl::Status SharedMemoryCommunicator::CheckPrepared(CollectiveHandle handle) const {
  if (handle.index < plans_.size()) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("collective #", handle.index, " was not prepared"));
}

absl::Status SharedMemoryCommunicator::Run(uint32_t index, absl::Duration timeout) {
  HostCollective collective;
  const std::optional<HostWait> wait = BeginStep(CollectiveHandle{index}, collective);
  return Complete(collective, wait, timeout);
}

absl::Status SharedMemoryCommunicator::Complete(HostCollective& collective, std::optional<HostWait> wait,
                                                absl::Duration timeout) {
  for (; wait; wait = NextStep(collective)) {
    absl::Status status = control_->WaitFor(wait->members, timeout, collective.plan->description, wait->count);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

std::optional<HostWait> SharedMemoryCommunicator::BeginStep(CollectiveHandle handle, HostCollective& collective) {
  const CollectivePlan& plan = *plans_[handle.index];
  collective = {};
  collective.plan = &plan;
  barrier_.Begin(handle.index, plan.hash);
  if (plan.members.size() == 1) {
    RunAlone(plan);
    return std::nullopt;
  }
  if (plan.is_staged) {
    const std::optional<HostWait> wait = control_->WaitForSlot();
    return wait ? wait : NextStep(collective);
  }
  collective.next = HostCollective::Step::kMove;
  return HostWait{plan.members, barrier_.Arrive()};
}

std::optional<HostWait> SharedMemoryCommunicator::NextStep(HostCollective& collective) {
  using Step = HostCollective::Step;
  const CollectivePlan& plan = *collective.plan;
  if (collective.next == Step::kStage) {
    collective.slot = control_->TakeSlot(plan.members);
    Stage(plan, collective.slot);
    collective.next = Step::kMove;
    return HostWait{plan.members, barrier_.Arrive()};
  }
  if (collective.next == Step::kMove) {
    Move(plan, collective.slot);
    const uint32_t arrival = barrier_.Arrive();
    collective.next = Step::kEnd;
    if (!plan.is_staged) return HostWait{plan.readers, arrival};
    control_->ReleaseSlot(collective.slot);
  }
  sent_bytes_ += plan.sent_bytes;
  return std::nullopt;
}

void SharedMemoryCommunicator::Move(const CollectivePlan& plan, uint32_t slot) {
  if (plan.reduces) {
    RunReductions(plan, slot);
  } else if (plan.kind == CollectiveKind::kGatherRange) {
    RunRanges(plan, slot);
  } else {
    RunCopies(plan, slot);
  }
}

void SharedMemoryCommunicator::Stage(const CollectivePlan& plan, uint32_t slot) {
  if (!plan.stages_source) return;
  for (const OperandPlan& operand : plan.operands) {
    std::memcpy(segment_.slot(rank(), slot) + operand.staged_offset, window() + operand.source_offset,
                operand.source_bytes);
  }
}

const std::byte* SharedMemoryCommunicator::SourceOf(const CollectivePlan& plan, const OperandPlan& operand,
                                                    uint32_t position, uint32_t slot) {
  const uint32_t rank = plan.members[position];
  const std::byte* source = plan.is_staged ? segment_.slot(rank, slot) + operand.staged_offset
                                           : segment_.window(rank) + operand.source_offset;
  return source + operand.read_offset;
}

std::byte* SharedMemoryCommunicator::TargetOf(const OperandPlan& operand, uint32_t rank) {
  return segment_.window(rank) + operand.target_offset + operand.write_offset;
}

void SharedMemoryCommunicator::RunReductions(const CollectivePlan& plan, uint32_t slot) {
  const uint32_t n = static_cast<uint32_t>(plan.members.size());
  for (const OperandPlan& operand : plan.operands) {
    targets_.clear();
    for (uint32_t position = 0; position < n; ++position) {
      sources_[position] = SourceOf(plan, operand, position, slot);
      if (plan.pushes) targets_.push_back(TargetOf(operand, plan.members[position]));
    }
    if (!plan.pushes) targets_.push_back(TargetOf(operand, rank()));
    ReduceRows(operand.reduction, absl::MakeConstSpan(sources_.data(), n), targets_, scratch_);
  }
}

void SharedMemoryCommunicator::RunCopies(const CollectivePlan& plan, uint32_t slot) {
  for (const OperandPlan& operand : plan.operands) {
    for (uint32_t position : plan.senders) {
      Copy(operand.copy, SourceOf(plan, operand, position, slot),
           TargetOf(operand, rank()) + position * operand.copy_member_stride);
    }
  }
}

void SharedMemoryCommunicator::RunRanges(const CollectivePlan& plan, uint32_t slot) {
  for (const OperandPlan& operand : plan.operands) {
    std::byte* target = TargetOf(operand, rank());
    for (const MemberCopy& member : operand.range.copies) {
      const std::byte* source = SourceOf(plan, operand, member.position, slot);
      Copy(member.copy, source + member.read_offset, target + member.write_offset);
    }
    for (const ZeroRows& zeros : operand.range.zeros) {
      for (uint64_t row = 0; row < zeros.rows; ++row) {
        std::memset(target + zeros.offset + row * zeros.stride, 0, zeros.row_bytes);
      }
    }
  }
}

// With one rank in the group every kind but ranges is a copy of the whole source.
void SharedMemoryCommunicator::RunAlone(const CollectivePlan& plan) {
  if (plan.kind == CollectiveKind::kGatherRange) return RunRanges(plan, /*slot=*/0);
  for (const OperandPlan& operand : plan.operands) {
    if (operand.source_offset == operand.target_offset) continue;
    std::memcpy(window() + operand.target_offset, window() + operand.source_offset, operand.source_bytes);
  }
}

}  // namespace sgd::comm
