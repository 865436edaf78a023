// Every collective between hosts is: arrive and wait for the group's ranks of this host, so that their sources are
// complete and their targets free; move messages until all have come and gone, and copy what is on this host; arrive
// again and wait for the ranks of this host that store here.
#include "runtime/comm/hosts/two_level_collective.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace sgd::comm {

absl::StatusOr<std::unique_ptr<TwoLevelCollective>> TwoLevelCollective::Open(HostLinks& links, uint32_t index,
                                                                             std::unique_ptr<TwoLevelPlan> plan,
                                                                             TwoLevelContext& context) {
  std::unique_ptr<TwoLevelCollective> collective(new TwoLevelCollective(index, std::move(plan), context));
  if (absl::Status status = collective->OpenFlows(links); !status.ok()) return status;
  return collective;
}

absl::Status TwoLevelCollective::OpenFlows(HostLinks& links) {
  for (int32_t index : plan_->local_positions)
    windows_.push_back(index < 0 ? nullptr : context_.host_windows[static_cast<size_t>(index)]);
  for (const PartPlan& part : plan_->parts) {
    absl::StatusOr<ReductionFlow> flow = ReductionFlow::Create(links, part, context_.host);
    if (!flow.ok()) return flow.status();
    reductions_.push_back(*std::move(flow));
  }
  if (plan_->doubling) {
    absl::StatusOr<DoublingFlow> flow = DoublingFlow::Create(links, *plan_->doubling, context_.host);
    if (!flow.ok()) return flow.status();
    doubling_ = *std::move(flow);
  }
  for (const std::vector<Move>* moves : {&plan_->sends, &plan_->receives}) {
    for (const Move& move : *moves) {
      absl::StatusOr<MoveFlow> flow = MoveFlow::Create(links, move, moves == &plan_->sends);
      if (!flow.ok()) return flow.status();
      moves_.push_back(*std::move(flow));
    }
  }
  const std::vector<Move>& sends = plan_->sends;
  for (size_t i = 0; i < sends.size(); ++i) {
    if (sends[i].after) moves_[i].SendAfter(&moves_[sends.size() + *sends[i].after]);
  }
  for (ReductionFlow& flow : reductions_) flows_.push_back(&flow);
  for (MoveFlow& flow : moves_) flows_.push_back(&flow);
  if (doubling_) flows_.push_back(&*doubling_);
  return absl::OkStatus();
}

uint64_t TwoLevelCollective::staging_bytes() const {
  uint64_t bytes = doubling_ ? doubling_->staging_bytes() : 0;
  for (const ReductionFlow& flow : reductions_) bytes += flow.staging_bytes();
  for (const MoveFlow& flow : moves_) bytes += flow.staging_bytes();
  return bytes;
}

// Another group of the same collective may be on this host alone and use a slot, whose number is the same on all ranks.
CollectiveWait TwoLevelCollective::Begin() {
  context_.control->barrier().Begin(index_, plan_->base.hash);
  next_ = Next::kMeet;
  const std::optional<HostWait> wait = plan_->base.is_staged ? context_.control->WaitForSlot() : std::nullopt;
  return wait ? CollectiveWait{CollectiveWait::For::kHost, *wait} : Continue();
}

CollectiveWait TwoLevelCollective::Continue() {
  switch (next_) {
    case Next::kMeet:
      if (plan_->base.is_staged) slot_ = context_.control->TakeSlot(plan_->local_members);
      next_ = Next::kMessages;
      return Arrive();
    case Next::kMessages:
      BeginFlows();
      next_ = Next::kLeave;
      return {.what = CollectiveWait::For::kMessages, .host = {}};
    case Next::kLeave:
      next_ = Next::kEnd;
      return Arrive();
    case Next::kEnd:
      break;
  }
  if (plan_->base.is_staged) context_.control->ReleaseSlot(slot_);
  context_.sent_bytes += plan_->base.sent_bytes;
  context_.host_bytes += plan_->host_bytes;
  return {};
}

CollectiveWait TwoLevelCollective::Arrive() {
  return {.what = CollectiveWait::For::kHost,
          .host = {.members = plan_->local_members, .count = context_.control->barrier().Arrive()}};
}

// Numbers of links that it reads are changed by collectives alone, of which none else runs.
void TwoLevelCollective::BeginFlows() {
  std::byte* staging = context_.staging;
  for (ReductionFlow& flow : reductions_) {
    flow.Begin(staging, windows_, context_.host_windows, context_.own);
    staging += flow.staging_bytes();
  }
  for (MoveFlow& flow : moves_) {
    flow.Begin(staging, context_.host_windows, context_.own);
    staging += flow.staging_bytes();
  }
  if (doubling_) doubling_->Begin(staging, windows_, context_.host_windows);
  copies_ = !plan_->base.reduces;
}

Advance TwoLevelCollective::Step() {
  Advance result = copies_ ? Advance::kComputes : Advance::kIdle;
  computes_ = nullptr;
  for (Flow* flow : flows_) {
    const Advance advance = flow->Step();
    if (advance == Advance::kComputes && computes_ == nullptr) computes_ = flow;
    result = Join(result, advance);
  }
  return result;
}

void TwoLevelCollective::Compute() {
  if (computes_ != nullptr) return computes_->Compute(context_.scratch);
  CopyOnHost();
  copies_ = false;
}

bool TwoLevelCollective::HaveMessagesEnded() const {
  return !copies_ && std::ranges::all_of(flows_, [](const Flow* flow) { return flow->IsDone(); });
}

// Copies from windows of this host, of collectives that move bytes.
void TwoLevelCollective::CopyOnHost() const {
  const CollectivePlan& plan = plan_->base;
  for (const OperandPlan& operand : plan.operands) {
    std::byte* target = context_.host_windows[context_.own] + operand.target_offset + operand.write_offset;
    const auto source_of = [&](uint32_t position) {
      return windows_[position] + operand.source_offset + operand.read_offset;
    };
    for (uint32_t position : plan.senders) {
      if (windows_[position] != nullptr)
        Copy(operand.copy, source_of(position), target + position * operand.copy_member_stride);
    }
    for (const MemberCopy& member : operand.range.copies) {
      if (windows_[member.position] != nullptr)
        Copy(member.copy, source_of(member.position) + member.read_offset, target + member.write_offset);
    }
    for (const ZeroRows& zeros : operand.range.zeros) {
      for (uint64_t row = 0; row < zeros.rows; ++row)
        std::memset(target + zeros.offset + row * zeros.stride, 0, zeros.row_bytes);
    }
  }
}

void TwoLevelCollective::AppendAwaited(AwaitedPeers* awaited) const {
  for (const Flow* flow : flows_) flow->AppendAwaited(awaited);
}

}  // namespace sgd::comm
