// Every collective between hosts is: arrive and wait for the group's ranks of this host, so that their sources are
// complete and their targets free; copy what is on this host; move messages until all have come and gone; arrive again
// and wait for the ranks of this host that store here.
#include "runtime/comm/two_level_communicator.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "runtime/comm/transport_meeting.h"

namespace sgd::comm {
namespace {

constexpr uint64_t kPage = 4096;
// Of who waits for a rank of its own host, which may wait for another host and have patience itself.
absl::Duration PatienceOnHost(absl::Duration timeout) { return 2 * PatienceOf(timeout); }

}  // namespace

TwoLevelCommunicator::TwoLevelCommunicator(Control& control, std::unique_ptr<SharedMemoryCommunicator> local,
                                           Placement placement, std::unique_ptr<Transport> transport,
                                           std::vector<std::string> addresses)
    : control_(control),
      local_(std::move(local)),
      links_(std::move(transport), control, std::move(placement), std::move(addresses)) {
  SharedMemorySegment& segment = local_->control().segment();
  for (uint32_t index = 0; index < segment.ranks(); ++index) host_windows_.push_back(segment.window(index));
}

absl::StatusOr<std::unique_ptr<TwoLevelCommunicator>> TwoLevelCommunicator::Connect(
    Control& control, std::unique_ptr<SharedMemoryCommunicator> local, Placement placement,
    std::unique_ptr<Transport> transport, absl::Duration timeout) {
  if (transport == nullptr) {
    return std::unique_ptr<TwoLevelCommunicator>(
        new TwoLevelCommunicator(control, std::move(local), std::move(placement), nullptr, {}));
  }
  absl::Status same = CompareTransports(control, placement, transport->version(), transport->devices(), timeout);
  if (!same.ok()) return same;
  absl::Status registered = transport->Register(local->window(), local->window_bytes());
  if (!registered.ok()) return registered;
  absl::StatusOr<std::vector<std::string>> addresses = control.AllGatherBytes(transport->address(), timeout);
  if (!addresses.ok()) return addresses.status();
  return std::unique_ptr<TwoLevelCommunicator>(new TwoLevelCommunicator(control, std::move(local), std::move(placement),
                                                                        std::move(transport), *std::move(addresses)));
}

TwoLevelCommunicator::~TwoLevelCommunicator() {
  if (under_way_ != 0) control_.Abort(absl::CancelledError("left while a collective was in flight"));
  thread_.reset();
  // Messages that are still expected go to memory of other members.
  links_.Close();
}

void TwoLevelCommunicator::StartThread(bool has_own_core) {
  if (!has_own_core) local_->control().barrier().set_shares_cores(true);
  thread_ = std::make_unique<CollectiveThread>(
      [this, has_own_core](uint32_t index, absl::Duration timeout) { return Run(index, timeout, has_own_core); },
      has_own_core);
}

absl::StatusOr<CollectiveHandle> TwoLevelCommunicator::Prepare(const Mesh& mesh, const CollectiveSpec& spec) {
  if (mesh.ranks() != control_.size()) {
    return absl::InvalidArgumentError(
        absl::StrCat("a mesh of ", mesh.ranks(), " ranks in a job of ", control_.size(),
                     "; expected one number; start as many ranks as the artifact is for"));
  }
  if (absl::Status status = CheckSpec(mesh, spec, window_bytes()); !status.ok()) return status;
  const uint32_t index = static_cast<uint32_t>(collectives_.size());
  absl::StatusOr<CollectivePlan> plan = MakeCollectivePlan(mesh, spec, rank(), index, local_->staged_limit());
  if (!plan.ok()) return plan.status();
  absl::StatusOr<std::unique_ptr<TwoLevelPlan>> wide = MakeTwoLevelPlan(mesh, spec, placement(), rank(), *plan);
  if (!wide.ok()) return wide.status();
  Wide collective;
  collective.plan = *std::move(wide);
  if (collective.plan == nullptr) {
    for (std::vector<uint32_t>* ranks : {&plan->members, &plan->readers}) {
      for (uint32_t& member : *ranks) member = placement().index_of[member];
    }
    local_->AddPlan(*std::move(plan), /*runs_on_host=*/true);
  } else {
    local_->AddPlan(*std::move(plan), /*runs_on_host=*/false);
    if (absl::Status status = OpenFlows(collective); !status.ok()) return status;
    if (absl::Status status = ReserveStaging(collective); !status.ok()) return status;
  }
  collectives_.push_back(std::move(collective));
  progress_.emplace_back();
  return CollectiveHandle{index};
}

absl::Status TwoLevelCommunicator::OpenFlows(Wide& wide) {
  for (int32_t index : wide.plan->local_positions)
    wide.windows.push_back(index < 0 ? nullptr : host_windows_[static_cast<size_t>(index)]);
  const std::lock_guard lock(links_.mutex());
  for (const PartPlan& part : wide.plan->parts) {
    absl::StatusOr<ReductionFlow> flow = ReductionFlow::Create(links_, part, placement().host_of[rank()]);
    if (!flow.ok()) return flow.status();
    wide.reductions.push_back(*std::move(flow));
  }
  if (wide.plan->doubling) {
    absl::StatusOr<DoublingFlow> flow = DoublingFlow::Create(links_, *wide.plan->doubling, placement().host_of[rank()]);
    if (!flow.ok()) return flow.status();
    wide.doubling = *std::move(flow);
  }
  for (const std::vector<Move>* moves : {&wide.plan->sends, &wide.plan->receives}) {
    for (const Move& move : *moves) {
      absl::StatusOr<MoveFlow> flow = MoveFlow::Create(links_, move, moves == &wide.plan->sends);
      if (!flow.ok()) return flow.status();
      wide.moves.push_back(*std::move(flow));
    }
  }
  const std::vector<Move>& sends = wide.plan->sends;
  for (size_t i = 0; i < sends.size(); ++i) {
    if (sends[i].after) wide.moves[i].SendAfter(&wide.moves[sends.size() + *sends[i].after]);
  }
  return absl::OkStatus();
}

// Collectives run one at a time, so one staging memory is for all.
absl::Status TwoLevelCommunicator::ReserveStaging(const Wide& wide) {
  uint64_t bytes = 0;
  for (const ReductionFlow& flow : wide.reductions) bytes += flow.staging_bytes();
  for (const MoveFlow& flow : wide.moves) bytes += flow.staging_bytes();
  if (wide.doubling) bytes += wide.doubling->staging_bytes();
  if (bytes <= staging_bytes_) return absl::OkStatus();
  bytes = (bytes + kPage - 1) / kPage * kPage;
  staging_.reset(static_cast<std::byte*>(std::aligned_alloc(kPage, bytes)));
  if (staging_ == nullptr) {
    staging_bytes_ = 0;
    return absl::ResourceExhaustedError(
        absl::StrCat("not enough memory for ", bytes, " bytes of messages between hosts"));
  }
  std::memset(staging_.get(), 0, bytes);  // page faults belong before the first step
  staging_bytes_ = bytes;
  return absl::OkStatus();
}

absl::Status TwoLevelCommunicator::CheckPrepared(CollectiveHandle handle) const {
  if (handle.index < collectives_.size()) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("collective #", handle.index, " was not prepared"));
}

absl::Status TwoLevelCommunicator::Execute(CollectiveHandle handle, absl::Duration timeout) {
  if (absl::Status status = CheckPrepared(handle); !status.ok()) return status;
  if (thread_ == nullptr || under_way_ == 0) return Run(handle.index, timeout, spins_);
  return thread_->Wait(thread_->Enqueue(handle.index, timeout));
}

absl::Status TwoLevelCommunicator::Start(CollectiveHandle handle, absl::Duration timeout) {
  if (absl::Status status = CheckPrepared(handle); !status.ok()) return status;
  Progress& progress = progress_[handle.index];
  if (progress.is_under_way) {
    return absl::FailedPreconditionError(absl::StrCat(local_->DescriptionOf(handle), " is in flight already"));
  }
  progress.is_under_way = true;
  ++under_way_;
  if (thread_ == nullptr) return progress.status = Run(handle.index, timeout, spins_);
  progress.ticket = thread_->Enqueue(handle.index, timeout);
  return absl::OkStatus();
}

absl::Status TwoLevelCommunicator::Wait(CollectiveHandle handle, absl::Duration) {
  if (absl::Status status = CheckPrepared(handle); !status.ok()) return status;
  Progress& progress = progress_[handle.index];
  if (!progress.is_under_way) {
    return absl::FailedPreconditionError(absl::StrCat(local_->DescriptionOf(handle), " was not started"));
  }
  absl::Status status = thread_ != nullptr ? thread_->Wait(progress.ticket) : progress.status;
  progress.is_under_way = false;
  --under_way_;
  return status;
}

absl::Status TwoLevelCommunicator::UseStages(const StageLinks& stages, absl::Duration timeout) {
  if (under_way_ != 0) return absl::FailedPreconditionError("stages: a collective is in flight");
  if (stages.stages == 0 || control_.size() % stages.stages != 0)
    return absl::InvalidArgumentError(absl::StrCat(control_.size(), " ranks are not of ", stages.stages, " stages"));
  // On this host ranks of all stages meet; how many these are does not matter.
  return local_->UseStages(StageLinks{}, timeout);
}

absl::StatusOr<ChannelHandle> TwoLevelCommunicator::PrepareChannel(const ChannelSpec& spec) {
  const std::optional<uint64_t> bytes = MailboxBytes(spec.message_bytes, spec.depth);
  if (spec.peer >= control_.size() || spec.peer == rank() || spec.depth == 0 || !bytes ||
      spec.mailbox_offset % kMailboxAlignment != 0 || spec.mailbox_offset > window_bytes() ||
      *bytes > window_bytes() - spec.mailbox_offset) {
    return absl::InvalidArgumentError(absl::StrCat(
        spec.description, ": ", spec.depth, " messages of ", spec.message_bytes, " bytes to or from rank ", spec.peer,
        " at ", spec.mailbox_offset, " are not in a window of ", window_bytes(), " bytes of another rank"));
  }
  End end{.sends = spec.sends, .message_bytes = spec.message_bytes, .description = spec.description, .on_host = {}};
  if (placement().host_of[spec.peer] == placement().host_of[rank()]) {
    absl::StatusOr<ChannelHandle> local = local_->AddChannel(spec, placement().index_of[spec.peer]);
    if (!local.ok()) return local.status();
    end.on_host = *local;
  } else {
    const std::lock_guard lock(links_.mutex());
    std::unique_ptr<HostChannel>& channel = channels_[{spec.peer, spec.mailbox_offset, spec.sends}];
    if (channel == nullptr) {
      auto opened = HostChannel::Open(links_, spec, spec.sends ? nullptr : window() + spec.mailbox_offset);
      if (!opened.ok()) {
        channels_.erase({spec.peer, spec.mailbox_offset, spec.sends});
        return opened.status();
      }
      channel = *std::move(opened);
    }
    end.between_hosts = channel.get();
  }
  ends_.push_back(std::move(end));
  return ChannelHandle{static_cast<uint32_t>(ends_.size() - 1)};
}

absl::Status TwoLevelCommunicator::CheckChannel(ChannelHandle handle, bool sends) const {
  if (handle.index < ends_.size() && ends_[handle.index].sends == sends) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("channel #", handle.index, " was not prepared for ", sends ? "sending" : "receiving"));
}

absl::Status TwoLevelCommunicator::Send(ChannelHandle handle, const std::byte* source, absl::Duration timeout) {
  if (absl::Status status = CheckChannel(handle, /*sends=*/true); !status.ok()) return status;
  const End& end = ends_[handle.index];
  if (end.between_hosts == nullptr) return local_->Send(end.on_host, source, timeout);
  absl::Status status = end.between_hosts->Send(source, timeout, spins_, end.description);
  if (status.ok()) sent_by_channels_ += end.message_bytes;
  return status;
}

absl::Status TwoLevelCommunicator::Receive(ChannelHandle handle, std::byte* target, absl::Duration timeout) {
  if (absl::Status status = CheckChannel(handle, /*sends=*/false); !status.ok()) return status;
  const End& end = ends_[handle.index];
  if (end.between_hosts == nullptr) return local_->Receive(end.on_host, target, timeout);
  return end.between_hosts->Receive(target, timeout, spins_, end.description);
}

absl::Status TwoLevelCommunicator::Run(uint32_t index, absl::Duration timeout, bool spins) {
  Wide& wide = collectives_[index];
  if (wide.plan == nullptr) return local_->Execute(CollectiveHandle{index}, timeout + PatienceOnHost(timeout));
  return RunBetweenHosts(index, wide, timeout, spins);
}

absl::Status TwoLevelCommunicator::RunBetweenHosts(uint32_t index, Wide& wide, absl::Duration timeout, bool spins) {
  const TwoLevelPlan& plan = *wide.plan;
  SharedMemoryControl& control = local_->control();
  control.barrier().Begin(index, plan.base.hash);
  // Another group of the same collective may be on this host alone and use a slot, whose number is the same on all
  // ranks.
  absl::StatusOr<uint32_t> slot = 0;
  if (plan.base.is_staged)
    slot = control.AcquireSlot(plan.local_members, timeout + PatienceOnHost(timeout), plan.base.description);
  if (!slot.ok()) return slot.status();
  if (absl::Status status = WaitForHost(plan, timeout); !status.ok()) return status;
  {
    const std::lock_guard lock(links_.mutex());
    BeginFlows(wide);
    AdvanceFlows(wide);
  }
  CopyOnHost(wide);
  const auto advance = [&] {
    if (AdvanceFlows(wide)) return HostLinks::Advance::kMoved;
    return AreDone(wide) ? HostLinks::Advance::kDone : HostLinks::Advance::kIdle;
  };
  absl::Status status =
      links_.Drive(advance, timeout, spins, plan.base.description, [&] { return DescribeSilent(wide); });
  if (status.ok()) status = WaitForHost(plan, timeout);
  if (!status.ok()) return status;
  if (plan.base.is_staged) control.ReleaseSlot(*slot);
  sent_bytes_ += plan.base.sent_bytes;
  host_bytes_ += plan.host_bytes;
  return absl::OkStatus();
}

absl::Status TwoLevelCommunicator::WaitForHost(const TwoLevelPlan& plan, absl::Duration timeout) {
  SharedMemoryControl& control = local_->control();
  return control.WaitFor(plan.local_members, timeout + PatienceOnHost(timeout), plan.base.description,
                         control.barrier().Arrive());
}

void TwoLevelCommunicator::BeginFlows(Wide& wide) {
  std::byte* staging = staging_.get();
  const uint32_t own = placement().index_of[rank()];
  for (ReductionFlow& flow : wide.reductions) {
    flow.Begin(staging, wide.windows, host_windows_, own);
    staging += flow.staging_bytes();
  }
  for (MoveFlow& flow : wide.moves) {
    flow.Begin(staging, host_windows_, own);
    staging += flow.staging_bytes();
  }
  if (wide.doubling) wide.doubling->Begin(staging, wide.windows, host_windows_);
}

bool TwoLevelCommunicator::AdvanceFlows(Wide& wide) {
  bool moved = false;
  for (ReductionFlow& flow : wide.reductions) moved = flow.Advance(scratch_) || moved;
  for (MoveFlow& flow : wide.moves) moved = flow.Advance() || moved;
  if (wide.doubling) moved = wide.doubling->Advance(scratch_) || moved;
  return moved;
}

bool TwoLevelCommunicator::AreDone(const Wide& wide) const {
  return std::ranges::all_of(wide.reductions, &ReductionFlow::IsDone) &&
         std::ranges::all_of(wide.moves, &MoveFlow::IsDone) && (!wide.doubling || wide.doubling->IsDone());
}

// What this rank reads from windows of its host, of collectives that move bytes.
void TwoLevelCommunicator::CopyOnHost(const Wide& wide) {
  const CollectivePlan& plan = wide.plan->base;
  if (plan.reduces) return;
  for (const OperandPlan& operand : plan.operands) {
    std::byte* target = window() + operand.target_offset + operand.write_offset;
    const auto source_of = [&](uint32_t position) {
      return wide.windows[position] + operand.source_offset + operand.read_offset;
    };
    for (uint32_t position : plan.senders) {
      if (wide.windows[position] != nullptr)
        Copy(operand.copy, source_of(position), target + position * operand.copy_member_stride);
    }
    for (const MemberCopy& member : operand.range.copies) {
      if (wide.windows[member.position] != nullptr)
        Copy(member.copy, source_of(member.position) + member.read_offset, target + member.write_offset);
    }
    for (const ZeroRows& zeros : operand.range.zeros) {
      for (uint64_t row = 0; row < zeros.rows; ++row)
        std::memset(target + zeros.offset + row * zeros.stride, 0, zeros.row_bytes);
    }
  }
}

HostLinks::Missing TwoLevelCommunicator::DescribeSilent(const Wide& wide) const {
  SilentPeers silent;
  for (const ReductionFlow& flow : wide.reductions) flow.AppendSilent(&silent);
  if (wide.doubling) wide.doubling->AppendSilent(&silent);
  for (const MoveFlow& flow : wide.moves) {
    if (flow.IsDone() || flow.waits_for_earlier()) continue;
    (flow.sends() ? silent.takers : flow.is_passed_on() ? silent.relays : silent.senders).push_back(flow.peer());
  }
  const bool sends = !silent.senders.empty() || !silent.relays.empty();
  std::vector<uint32_t>& named = !silent.senders.empty() ? silent.senders : sends ? silent.relays : silent.takers;
  std::ranges::sort(named);
  named.erase(std::unique(named.begin(), named.end()), named.end());
  const auto describe = [&](std::string* out, uint32_t peer) { absl::StrAppend(out, placement().Describe(peer)); };
  return {.text = absl::StrCat(absl::StrJoin(named, ", ", describe), sends ? " sent nothing" : " took nothing"),
          .is_direct = !silent.senders.empty() || !sends};
}

}  // namespace sgd::comm
