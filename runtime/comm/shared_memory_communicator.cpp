// Every collective is: announce, (stage), arrive, wait for the group, reduce or copy from the
// peers' memory, arrive again, and, where peers read windows, wait until they have done so. One that
// is started without a thread arrives at once and does the rest when it is waited for, so that ranks
// need not come to it at the same time.
#include "runtime/comm/shared_memory_communicator.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace sgd::comm {
namespace {

// What RankFlag::current says outside of prepared collectives.
constexpr uint32_t kBarrierIndex = 0xffffffff;
constexpr uint32_t kExchangeIndex = 0xfffffffe;
// Staging trades copies for one wait less. With a core per rank a wait is cheap, so only little is
// staged (4 KiB all-reduced by two ranks: 0.7 us unstaged, 1.5 us staged); where ranks share cores
// a wait is a switch (4 ranks on 2 cores: 21 and 9 us).
constexpr uint64_t kStagedBytes = 512;
constexpr char kBarrierName[] = "barrier";
constexpr char kExchangeName[] = "exchange of the ranks' properties";

}  // namespace

SharedMemoryCommunicator::SharedMemoryCommunicator(std::shared_ptr<SharedMemorySegment> segment, uint32_t rank)
    : segment_(std::move(segment)), rank_(rank), barrier_(*segment_, rank) {
  for (uint32_t peer = 0; peer < segment_->ranks(); ++peer) world_.push_back(peer);
  sources_.resize(world_.size());
  targets_.reserve(world_.size());
}

SharedMemoryCommunicator::~SharedMemoryCommunicator() {
  if (under_way_ != 0) Abort(absl::CancelledError("left while a collective was under way"));
}

void SharedMemoryCommunicator::StartThread(bool has_own_core) {
  if (!has_own_core) barrier_.set_shares_cores(true);
  thread_ = std::make_unique<CollectiveThread>(
      [this](uint32_t index, absl::Duration timeout) { return Run(index, timeout); }, has_own_core);
}

absl::StatusOr<std::unique_ptr<SharedMemoryCommunicator>> SharedMemoryCommunicator::Connect(
    std::shared_ptr<SharedMemorySegment> segment, uint32_t rank, absl::Duration timeout, uint32_t core_limit) {
  if (rank >= segment->ranks()) {
    return absl::InvalidArgumentError(absl::StrCat("rank ", rank, " of a job of ", segment->ranks(), " ranks"));
  }
  std::unique_ptr<SharedMemoryCommunicator> communicator(new SharedMemoryCommunicator(std::move(segment), rank));
  if (absl::Status status = communicator->Join(timeout, core_limit); !status.ok()) return status;
  return communicator;
}

absl::Status SharedMemoryCommunicator::Join(absl::Duration timeout, uint32_t core_limit) {
  RankFlag& flag = segment_->flag(rank_);
  if (flag.state.exchange(RankState::kJoined) != RankState::kAbsent) {
    return absl::FailedPreconditionError(absl::StrCat("rank ", rank_, " was started twice"));
  }
  flag.pid.store(getpid());
  cpu_set_t cpus;
  CPU_ZERO(&cpus);
  sched_getaffinity(0, sizeof(cpus), &cpus);
  flag.cpus = cpus;
  flag.core_limit.store(core_limit);
  if (absl::Status status = segment_->PopulateWindow(rank_); !status.ok()) return status;
  if (absl::Status status = Barrier(timeout); !status.ok()) return status;
  // The least limit, so that all ranks agree on it.
  for (uint32_t peer : world_) {
    CPU_OR(&cpus, &cpus, &segment_->flag(peer).cpus);
    core_limit = std::min(core_limit, segment_->flag(peer).core_limit.load());
  }
  cores_ = std::clamp<uint32_t>(static_cast<uint32_t>(CPU_COUNT(&cpus)), 1, std::max(1u, core_limit));
  barrier_.set_shares_cores(cores_ < size());
  return absl::OkStatus();
}

absl::StatusOr<CollectiveHandle> SharedMemoryCommunicator::Prepare(const Mesh& mesh, const CollectiveSpec& spec) {
  if (mesh.ranks() != size()) {
    return absl::InvalidArgumentError(absl::StrCat("a mesh of ", mesh.ranks(), " ranks in a job of ", size()));
  }
  if (absl::Status status = CheckSpec(mesh, spec, window_bytes()); !status.ok()) return status;
  const uint32_t index = static_cast<uint32_t>(plans_.size());
  absl::StatusOr<CollectivePlan> plan =
      MakeCollectivePlan(mesh, spec, rank_, index, cores_ < size() ? SharedMemorySegment::kSlotBytes : kStagedBytes);
  if (!plan.ok()) return plan.status();
  MapPeers(*plan);
  plans_.push_back(std::make_unique<const CollectivePlan>(*std::move(plan)));
  progress_.emplace_back();
  return CollectiveHandle{index};
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
    if (peer == rank_) continue;
    for (const OperandPlan& operand : plan.operands) {
      if (plan.kind == CollectiveKind::kGatherRange && !ReadsFrom(operand, plan.members, peer)) continue;
      segment_->MapWindow(peer, operand.source_offset, operand.source_bytes);
      if (plan.pushes) segment_->MapWindow(peer, operand.target_offset, operand.source_bytes);
    }
  }
}

absl::Status SharedMemoryCommunicator::Execute(CollectiveHandle handle, absl::Duration timeout) {
  if (absl::Status status = CheckPrepared(handle); !status.ok()) return status;
  if (thread_ == nullptr || under_way_ == 0) return Run(handle.index, timeout);
  return thread_->Wait(thread_->Enqueue(handle.index, timeout));
}

absl::Status SharedMemoryCommunicator::Start(CollectiveHandle handle, absl::Duration timeout) {
  if (absl::Status status = CheckPrepared(handle); !status.ok()) return status;
  const CollectivePlan& plan = *plans_[handle.index];
  Progress& progress = progress_[handle.index];
  if (progress.is_under_way) {
    return absl::FailedPreconditionError(absl::StrCat(plan.description, " is under way already"));
  }
  progress = {.is_under_way = true};
  ++under_way_;
  if (thread_ != nullptr) {
    progress.ticket = thread_->Enqueue(handle.index, timeout);
    return absl::OkStatus();
  }
  // What is short is not worth a second look.
  if (plan.members.size() == 1 || plan.is_staged) return Run(handle.index, timeout);
  barrier_.Begin(handle.index, plan.hash);
  progress.has_arrived = true;
  progress.arrival = barrier_.Arrive();
  return absl::OkStatus();
}

absl::Status SharedMemoryCommunicator::Wait(CollectiveHandle handle, absl::Duration timeout) {
  if (absl::Status status = CheckPrepared(handle); !status.ok()) return status;
  const CollectivePlan& plan = *plans_[handle.index];
  Progress& progress = progress_[handle.index];
  if (!progress.is_under_way) {
    return absl::FailedPreconditionError(absl::StrCat(plan.description, " was not started"));
  }
  absl::Status status;
  if (thread_ != nullptr) {
    status = thread_->Wait(progress.ticket);
  } else if (progress.has_arrived) {
    status = Complete(plan, progress.arrival, timeout);
  }
  progress.is_under_way = false;
  --under_way_;
  return status;
}

absl::Status SharedMemoryCommunicator::CheckPrepared(CollectiveHandle handle) const {
  if (handle.index < plans_.size()) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("collective #", handle.index, " was not prepared"));
}

absl::Status SharedMemoryCommunicator::CheckNothingUnderWay(const char* what) const {
  if (under_way_ == 0) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat(what, ": a collective is under way"));
}

absl::Status SharedMemoryCommunicator::Run(uint32_t index, absl::Duration timeout) {
  const CollectivePlan& plan = *plans_[index];
  barrier_.Begin(index, plan.hash);
  if (plan.members.size() == 1) {
    RunAlone(plan);
    return absl::OkStatus();
  }
  return plan.is_staged ? RunStaged(plan, timeout) : Complete(plan, barrier_.Arrive(), timeout);
}

absl::Status SharedMemoryCommunicator::RunStaged(const CollectivePlan& plan, absl::Duration timeout) {
  absl::StatusOr<uint32_t> slot = AcquireSlot(plan.members, timeout, plan.description);
  if (!slot.ok()) return slot.status();
  Stage(plan, *slot);
  absl::Status status = WaitFor(plan.members, timeout, plan.description, barrier_.Arrive());
  if (!status.ok()) return status;
  Move(plan, *slot);
  barrier_.Arrive();
  ReleaseSlot(*slot);
  sent_bytes_ += plan.sent_bytes;
  return absl::OkStatus();
}

// What follows this rank's arrival number `arrival`, the first of the collective.
absl::Status SharedMemoryCommunicator::Complete(const CollectivePlan& plan, uint32_t arrival, absl::Duration timeout) {
  absl::Status status = WaitFor(plan.members, timeout, plan.description, arrival);
  if (!status.ok()) return status;
  Move(plan, 0);
  status = WaitFor(plan.readers, timeout, plan.description, barrier_.Arrive());
  if (!status.ok()) return status;
  sent_bytes_ += plan.sent_bytes;
  return absl::OkStatus();
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

absl::Status SharedMemoryCommunicator::Barrier(absl::Duration timeout) {
  if (absl::Status status = CheckNothingUnderWay(kBarrierName); !status.ok()) return status;
  barrier_.Begin(kBarrierIndex, kBarrierIndex);
  return WaitFor(world_, timeout, kBarrierName, barrier_.Arrive());
}

// Slots are used in turns. The next one is free once its last readers have arrived again, which is
// known when the group has met since.
absl::StatusOr<uint32_t> SharedMemoryCommunicator::AcquireSlot(absl::Span<const uint32_t> members,
                                                               absl::Duration timeout, const std::string& description) {
  const uint32_t slot = (last_slot_ + 1) % SharedMemorySegment::kSlots;
  const SlotUse& use = slot_uses_[slot];
  if (use.members != slot_uses_[last_slot_].members) {
    absl::Status status = WaitFor(use.members, timeout, description, use.count);
    if (!status.ok()) return status;
  }
  slot_uses_[slot].members = members;
  last_slot_ = slot;
  return slot;
}

void SharedMemoryCommunicator::ReleaseSlot(uint32_t slot) { slot_uses_[slot].count = barrier_.count(); }

void SharedMemoryCommunicator::Stage(const CollectivePlan& plan, uint32_t slot) {
  if (!plan.stages_source) return;
  for (const OperandPlan& operand : plan.operands) {
    std::memcpy(segment_->slot(rank_, slot) + operand.staged_offset, window() + operand.source_offset,
                operand.source_bytes);
  }
}

const std::byte* SharedMemoryCommunicator::SourceOf(const CollectivePlan& plan, const OperandPlan& operand,
                                                    uint32_t position, uint32_t slot) {
  const uint32_t rank = plan.members[position];
  const std::byte* source = plan.is_staged ? segment_->slot(rank, slot) + operand.staged_offset
                                           : segment_->window(rank) + operand.source_offset;
  return source + operand.read_offset;
}

std::byte* SharedMemoryCommunicator::TargetOf(const OperandPlan& operand, uint32_t rank) {
  return segment_->window(rank) + operand.target_offset + operand.write_offset;
}

void SharedMemoryCommunicator::RunReductions(const CollectivePlan& plan, uint32_t slot) {
  const uint32_t n = static_cast<uint32_t>(plan.members.size());
  for (const OperandPlan& operand : plan.operands) {
    targets_.clear();
    for (uint32_t position = 0; position < n; ++position) {
      sources_[position] = SourceOf(plan, operand, position, slot);
      if (plan.pushes) targets_.push_back(TargetOf(operand, plan.members[position]));
    }
    if (!plan.pushes) targets_.push_back(TargetOf(operand, rank_));
    ReduceRows(operand.reduction, absl::MakeConstSpan(sources_.data(), n), targets_, scratch_);
  }
}

void SharedMemoryCommunicator::RunCopies(const CollectivePlan& plan, uint32_t slot) {
  for (const OperandPlan& operand : plan.operands) {
    for (uint32_t position : plan.senders) {
      Copy(operand.copy, SourceOf(plan, operand, position, slot),
           TargetOf(operand, rank_) + position * operand.copy_member_stride);
    }
  }
}

void SharedMemoryCommunicator::RunRanges(const CollectivePlan& plan, uint32_t slot) {
  for (const OperandPlan& operand : plan.operands) {
    std::byte* target = TargetOf(operand, rank_);
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

absl::StatusOr<std::vector<std::string>> SharedMemoryCommunicator::AllGatherBytes(std::string_view bytes,
                                                                                  absl::Duration timeout) {
  if (absl::Status status = CheckNothingUnderWay(kExchangeName); !status.ok()) return status;
  const uint64_t length = bytes.size();
  std::vector<std::string> lengths(size()), parts(size());
  absl::Status status = ExchangeChunk(std::string_view(reinterpret_cast<const char*>(&length), sizeof(length)), timeout,
                                      absl::MakeSpan(lengths));
  if (!status.ok()) return status;
  uint64_t longest = 0;
  for (const std::string& peer : lengths) {
    uint64_t value = 0;
    std::memcpy(&value, peer.data(), sizeof(value));
    longest = std::max(longest, value);
  }
  constexpr uint64_t kChunk = SharedMemorySegment::kSlotBytes - sizeof(uint64_t);
  for (uint64_t begin = 0; begin < longest; begin += kChunk) {
    const std::string_view chunk = begin < length ? bytes.substr(begin, kChunk) : std::string_view();
    status = ExchangeChunk(chunk, timeout, absl::MakeSpan(parts));
    if (!status.ok()) return status;
  }
  return parts;
}

// Appends every rank's chunk to its part. A slot holds the chunk's length, then the chunk.
absl::Status SharedMemoryCommunicator::ExchangeChunk(std::string_view bytes, absl::Duration timeout,
                                                     absl::Span<std::string> parts) {
  barrier_.Begin(kExchangeIndex, kExchangeIndex);
  absl::StatusOr<uint32_t> slot = AcquireSlot(world_, timeout, kExchangeName);
  if (!slot.ok()) return slot.status();
  uint64_t length = bytes.size();
  std::byte* own = segment_->slot(rank_, *slot);
  std::memcpy(own, &length, sizeof(length));
  if (length > 0) std::memcpy(own + sizeof(length), bytes.data(), length);
  absl::Status status = WaitFor(world_, timeout, kExchangeName, barrier_.Arrive());
  if (!status.ok()) return status;
  for (uint32_t peer : world_) {
    const std::byte* source = segment_->slot(peer, *slot);
    std::memcpy(&length, source, sizeof(length));
    parts[peer].append(reinterpret_cast<const char*>(source + sizeof(length)), length);
  }
  barrier_.Arrive();
  ReleaseSlot(*slot);
  return absl::OkStatus();
}

void SharedMemoryCommunicator::Abort(const absl::Status& cause) { segment_->Abort(rank_, cause); }

void SharedMemoryCommunicator::Finish() { segment_->flag(rank_).state.store(RankState::kDone); }

absl::Status SharedMemoryCommunicator::WaitFor(absl::Span<const uint32_t> members, absl::Duration timeout,
                                               const std::string& description, uint32_t count) {
  const WaitResult result = barrier_.Wait(members, count, timeout);
  if (result.outcome == WaitOutcome::kReady) return absl::OkStatus();
  return ErrorOf(result, members, count, timeout, description);
}

std::string SharedMemoryCommunicator::DescriptionOf(uint32_t index) const {
  if (index == kBarrierIndex) return kBarrierName;
  if (index == kExchangeIndex) return kExchangeName;
  if (index < plans_.size()) return plans_[index]->description;
  return absl::StrCat("collective #", index);
}

absl::Status SharedMemoryCommunicator::ErrorOf(const WaitResult& result, absl::Span<const uint32_t> members,
                                               uint32_t count, absl::Duration timeout,
                                               const std::string& description) const {
  switch (result.outcome) {
    case WaitOutcome::kReady:
      return absl::OkStatus();
    case WaitOutcome::kAborted:
      return absl::AbortedError(absl::StrCat(description, " was given up: ", segment_->abort_cause().message()));
    case WaitOutcome::kEnded:
      return absl::FailedPreconditionError(absl::StrCat(description, ": rank ", result.rank, " has already ended"));
    case WaitOutcome::kDifferent:
      return absl::FailedPreconditionError(
          absl::StrCat("rank ", result.rank, " executes ", DescriptionOf(segment_->flag(result.rank).current.load()),
                       " where this rank executes ", description, ": their programs differ"));
    case WaitOutcome::kTimedOut:
      break;
  }
  std::vector<uint32_t> missing;
  for (uint32_t peer : members) {
    if (peer != rank_ && !barrier_.HasArrived(peer, count)) missing.push_back(peer);
  }
  if (missing.empty()) missing.push_back(result.rank);  // it came while this was written
  return absl::DeadlineExceededError(absl::StrCat(description, missing.size() > 1 ? ": ranks " : ": rank ",
                                                  absl::StrJoin(missing, ", "), " did not arrive within ",
                                                  absl::FormatDuration(timeout)));
}

}  // namespace sgd::comm
