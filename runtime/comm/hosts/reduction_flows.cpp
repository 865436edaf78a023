// Chunks go one after another through the steps: values out; values in and reduced; results out; results in.
#include "runtime/comm/hosts/reduction_flows.h"

#include <algorithm>
#include <cstring>

namespace sgd::comm {
namespace {

uint64_t RoundUp(uint64_t bytes) { return (bytes + 63) / 64 * 64; }

}  // namespace

absl::StatusOr<ReductionFlow> ReductionFlow::Create(HostLinks& links, const PartPlan& plan, uint32_t host) {
  ReductionFlow flow(plan, host);
  if (absl::Status status = flow.Open(links); !status.ok()) return status;
  return flow;
}

absl::Status ReductionFlow::Open(HostLinks& links) {
  const auto add = [&](std::vector<Lane>& lanes, uint32_t peer, uint32_t stream, uint32_t host, uint64_t most,
                       uint64_t buffers) -> absl::Status {
    absl::StatusOr<HostLink*> link = links.Open(peer, stream);
    if (!link.ok()) return link.status();
    Lane lane;
    lane.link = *link;
    lane.host = host;
    lane.message_bytes = RoundUp(most);
    staging_bytes_ += lane.message_bytes * buffers;
    lanes.push_back(lane);
    return absl::OkStatus();
  };
  const ReductionPart& part = *plan_->part;
  absl::Status status;
  for (uint32_t peer : plan_->values_to) {
    // All get the same bytes, from the buffers of the first.
    const uint64_t most = values_out_.empty() ? part.MostValueBytes(host_) : 0;
    if (status.ok()) status = add(values_out_, peer, kForwardStream, host_, most, kSendBuffers);
  }
  for (const PartPlan::From& from : plan_->values_from) {
    values_.resize(std::max<size_t>(values_.size(), from.host + 1));
    if (status.ok())
      status = add(values_in_, from.peer, kForwardStream, from.host, part.MostValueBytes(from.host), HostLink::kPosted);
  }
  values_.resize(std::max<size_t>(values_.size(), links.placement().hosts()));
  for (uint32_t peer : plan_->results_to) {
    if (status.ok()) status = add(results_out_, peer, kResultStream, host_, part.MostResultBytes(), kSendBuffers);
  }
  if (status.ok() && plan_->results_from)
    status = add(results_in_, *plan_->results_from, kResultStream, host_, part.MostResultBytes(), HostLink::kPosted);
  return status;
}

void ReductionFlow::Begin(std::byte* staging, ReductionPart::Windows windows, absl::Span<std::byte* const> host_windows,
                          uint32_t own) {
  windows_ = windows;
  host_windows_ = host_windows;
  own_window_ = host_windows[own];
  targets_.clear();
  for (uint32_t index : plan_->targets) targets_.push_back(host_windows[index]);
  reduced_ = 0;
  work_ = Work::kNone;
  const auto begin = [&](std::vector<Lane>& lanes, bool is_out) {
    for (Lane& lane : lanes) {
      lane.buffers = staging;
      staging += lane.message_bytes * (is_out ? kSendBuffers : HostLink::kPosted);
      lane.first = is_out ? lane.link->sent() : lane.link->posted();
      lane.chunks = lane.consumed = 0;
      lane.is_computed = false;
    }
  };
  begin(values_out_, true);
  begin(values_in_, false);
  begin(results_out_, true);
  begin(results_in_, false);
}

bool ReductionFlow::MayUseBuffer(const Lane& lane) const {
  return lane.chunks < kSendBuffers || lane.link->HasLeft(lane.first + lane.chunks - kSendBuffers);
}

Advance ReductionFlow::Step() {
  bool moved = SendValues();
  moved = ReduceChunks() || moved;
  moved = SendResults() || moved;
  moved = TakeResults() || moved;
  if (work_ != Work::kNone) return Advance::kComputes;
  return moved ? Advance::kMoved : Advance::kIdle;
}

bool ReductionFlow::IsComputed(Lane& lane, Work work) {
  if (lane.is_computed) {
    lane.is_computed = false;
    return true;
  }
  if (work_ == Work::kNone) {
    work_ = work;
    work_lane_ = &lane;
  }
  return false;
}

void ReductionFlow::Compute(TileScratch& scratch) {
  const ReductionPart& part = *plan_->part;
  Lane& lane = *work_lane_;
  switch (work_) {
    case Work::kNone:
      return;
    case Work::kMakeValues:
      part.MakeValues(lane.chunks, host_, windows_, lane.Buffer(lane.chunks % kSendBuffers), scratch);
      break;
    case Work::kReduce:
      for (const Lane& in : values_in_) values_[in.host] = in.Buffer(reduced_ % HostLink::kPosted);
      part.Reduce(reduced_, host_, windows_, values_, targets_, scratch);
      break;
    case Work::kPackResult:
      part.PackResult(lane.chunks, own_window_, lane.Buffer(lane.chunks % kSendBuffers));
      break;
    case Work::kUnpackResult: {
      std::byte* place = nullptr;
      const std::byte* data = ResultIn(lane, &place);
      for (std::byte* target : targets_) {
        if (place == nullptr || target != own_window_) part.UnpackResult(lane.consumed, data, target);
      }
      break;
    }
  }
  lane.is_computed = true;
  work_ = Work::kNone;
}

// To all at the same time: values are made once.
bool ReductionFlow::SendValues() {
  if (values_out_.empty()) return false;
  bool moved = false;
  const ReductionPart& part = *plan_->part;
  Lane& first = values_out_[0];
  const auto may_send = [&](const Lane& lane) { return lane.link->MaySend() && MayUseBuffer(lane); };
  while (first.chunks < part.chunks() && std::ranges::all_of(values_out_, may_send)) {
    const std::byte* data = part.FindValues(first.chunks, host_, windows_);
    if (data == nullptr) {
      if (!IsComputed(first, Work::kMakeValues)) break;
      data = first.Buffer(first.chunks % kSendBuffers);
    }
    const uint64_t bytes = part.ValueBytes(first.chunks, host_);
    for (Lane& lane : values_out_) {
      lane.link->Send(data, bytes);
      ++lane.chunks;
    }
    moved = true;
  }
  return moved;
}

bool ReductionFlow::ReduceChunks() {
  bool moved = false;
  const ReductionPart& part = *plan_->part;
  while (!values_in_.empty()) {
    bool is_here = reduced_ < part.chunks();
    for (Lane& lane : values_in_) {
      for (; lane.chunks < part.chunks() && lane.link->MayPost(); ++lane.chunks)
        lane.link->Post(lane.Buffer(lane.chunks % HostLink::kPosted), part.ValueBytes(lane.chunks, lane.host));
      is_here = is_here && lane.link->HasArrived();
    }
    // The result may overwrite a source of this host that is sent from the window: it must have left.
    is_here = is_here && std::ranges::all_of(values_out_, [&](const Lane& out) {
                return out.chunks > reduced_ && out.link->HasLeft(out.first + reduced_);
              });
    if (!is_here || !IsComputed(values_in_[0], Work::kReduce)) break;
    for (Lane& lane : values_in_) lane.link->Take();
    ++reduced_;
    moved = true;
  }
  return moved;
}

bool ReductionFlow::SendResults() {
  bool moved = false;
  const ReductionPart& part = *plan_->part;
  for (Lane& lane : results_out_) {
    while (lane.chunks < reduced_ && lane.link->MaySend() && MayUseBuffer(lane)) {
      const std::byte* data = part.FindResult(lane.chunks, own_window_);
      if (data == nullptr) {
        if (!IsComputed(lane, Work::kPackResult)) break;
        data = lane.Buffer(lane.chunks % kSendBuffers);
      }
      lane.link->Send(data, part.ResultBytes(lane.chunks));
      ++lane.chunks;
      moved = true;
    }
  }
  return moved;
}

// `place` is null where the result has gaps in the window.
const std::byte* ReductionFlow::ResultIn(const Lane& lane, std::byte** place) const {
  *place = plan_->part->FindResult(lane.consumed, own_window_);
  return *place != nullptr ? *place : lane.Buffer(lane.consumed % HostLink::kPosted);
}

bool ReductionFlow::StoresElsewhere(const std::byte* place) const {
  return place == nullptr || std::ranges::any_of(targets_, [&](std::byte* target) { return target != own_window_; });
}

bool ReductionFlow::TakeResults() {
  bool moved = false;
  const ReductionPart& part = *plan_->part;
  for (Lane& lane : results_in_) {
    for (; lane.chunks < part.chunks() && lane.link->MayPost(); ++lane.chunks) {
      std::byte* place = part.FindResult(lane.chunks, own_window_);
      lane.link->Post(place != nullptr ? place : lane.Buffer(lane.chunks % HostLink::kPosted),
                      part.ResultBytes(lane.chunks));
    }
    while (lane.consumed < part.chunks() && lane.link->HasArrived()) {
      std::byte* place = nullptr;
      ResultIn(lane, &place);
      if (StoresElsewhere(place) && !IsComputed(lane, Work::kUnpackResult)) break;
      lane.link->Take();
      ++lane.consumed;
      moved = true;
    }
  }
  return moved;
}

bool ReductionFlow::IsDone() const {
  const size_t chunks = plan_->part->chunks();
  const auto have_left = [&](const std::vector<Lane>& lanes) {
    return std::ranges::all_of(lanes, [&](const Lane& lane) {
      if (lane.chunks < chunks) return false;
      for (size_t i = chunks - std::min<size_t>(chunks, HostLink::kWindow); i < chunks; ++i) {
        if (!lane.link->HasLeft(lane.first + i)) return false;
      }
      return true;
    });
  };
  return have_left(values_out_) && have_left(results_out_) && (values_in_.empty() || reduced_ == chunks) &&
         std::ranges::all_of(results_in_, [&](const Lane& lane) { return lane.consumed == chunks; });
}

void ReductionFlow::AppendAwaited(AwaitedPeers* awaited) const {
  const size_t chunks = plan_->part->chunks();
  for (const Lane& lane : values_in_) {
    if (reduced_ < chunks && !lane.link->HasArrived()) awaited->senders.push_back(lane.link->peer());
  }
  for (const Lane& lane : results_in_) {
    if (lane.consumed < chunks) awaited->relays.push_back(lane.link->peer());
  }
  for (const std::vector<Lane>* lanes : {&values_out_, &results_out_}) {
    for (const Lane& lane : *lanes) {
      if (lane.chunks < chunks || !lane.link->HasLeft(lane.first + chunks - 1))
        awaited->takers.push_back(lane.link->peer());
    }
  }
}

}  // namespace sgd::comm
