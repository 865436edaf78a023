// Walks blocks segment by segment.
#include "runtime/exec/stream_step.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/memory/memory.h"
#include "runtime/artifact/reader.h"

namespace sgd::exec {

using device::StreamAction;
using device::StreamBlock;
using device::StreamPlan;

StreamStep::StreamStep(device::Streams& streams, const artifact::Program& program, StreamPlan plan, Hooks hooks,
                       bool records)
    : streams_(streams), program_(program), hooks_(std::move(hooks)), records_(records), plan_(std::move(plan)) {}

absl::StatusOr<std::unique_ptr<StreamStep>> StreamStep::Create(device::Streams& streams,
                                                               const artifact::Program& program, StreamPlan plan,
                                                               Hooks hooks, bool records) {
  auto step = absl::WrapUnique(new StreamStep(streams, program, std::move(plan), std::move(hooks), records));
  if (absl::Status status = streams.Reserve(step->plan_.streams(), step->plan_.events); !status.ok()) return status;
  return step;
}

absl::Status StreamStep::Run(const Frame& frame) { return RunBlock(0, frame); }

absl::Status StreamStep::RunBlock(uint32_t block, const Frame& frame) {
  const StreamBlock& actions = plan_.blocks[block];
  for (size_t i = 0;; ++i) {
    const size_t end = device::SegmentEnd(actions, i);
    const bool is_first = i == 0 && frame.before != nullptr, is_last = end == actions.size() && frame.after != nullptr;
    const Part part{block, i, end, is_first ? &frame.before : nullptr, is_last ? &frame.after : nullptr};
    if (absl::Status status = RunPart(part, is_first || is_last ? frame.variant : 0); !status.ok()) return status;
    if (end == actions.size()) return absl::OkStatus();
    const artifact::Instruction& instruction = *program_.instructions()->Get(actions[end].instruction);
    const artifact::Loop* loop = instruction.op_as_Loop();
    absl::Status status =
        loop != nullptr ? WalkLoop(actions[end], *loop) : WalkCase(actions[end], *instruction.op_as_Case());
    if (!status.ok()) return status;
    i = end;
  }
}

// The first execution is not recorded: libraries may load code and allocate when they run something first.
absl::Status StreamStep::RunPart(const Part& part, uint32_t variant) {
  const bool has_frame = part.before != nullptr || part.after != nullptr;
  if (part.begin == part.end && !has_frame) return absl::OkStatus();
  const bool is_single =
      part.end - part.begin == 1 && plan_.blocks[part.block][part.begin].first_block == 0 && !has_frame;
  PartState& state = parts_[{part.block, part.begin}];
  if (!std::exchange(state.has_run, true) || !Records(part.block) || is_single) return Enqueue(part);
  Recording& recording = state.recordings[variant];
  if (recording.thunk != nullptr) {
    hooks_.count_sent(recording.sent_bytes);
  } else {
    absl::StatusOr<Recording> recorded = Record(part);
    if (!recorded.ok()) return recorded.status();
    recording = *std::move(recorded);
  }
  return recording.thunk->Execute();
}

// A capture joins all its streams, and messages that go on behind a part cannot be joined there.
bool StreamStep::Records(uint32_t block) const {
  const bool has_open_messages =
      block == 0 && !plan_.links.empty() && device::SegmentEnd(plan_.blocks[0], 0) < plan_.blocks[0].size();
  return records_ && !has_open_messages;
}

absl::StatusOr<StreamStep::Recording> StreamStep::Record(const Part& part) {
  if (absl::Status status = streams_.BeginRecording(); !status.ok()) return status;
  const uint64_t sent_before = hooks_.sent_bytes();
  absl::Status status = Enqueue(part);
  device::PreparedThunk thunk = streams_.EndRecording();
  if (!status.ok()) return status;
  if (!thunk.ok()) return thunk.status();
  return Recording{*std::move(thunk), hooks_.sent_bytes() - sent_before};
}

absl::Status StreamStep::Enqueue(const Part& part) {
  absl::Status status = part.before == nullptr ? absl::OkStatus() : (*part.before)();
  if (status.ok()) status = EnqueueActions(plan_.blocks[part.block], part.begin, part.end);
  return status.ok() && part.after != nullptr ? (*part.after)() : status;
}

absl::Status StreamStep::EnqueueActions(const StreamBlock& block, size_t begin, size_t end) {
  absl::Status status;
  for (size_t i = begin; i < end && status.ok(); ++i) {
    const StreamAction& action = block[i];
    switch (action.kind) {
      case StreamAction::Kind::kRun:
      case StreamAction::Kind::kPost:
        status = EnqueueInstruction(action);
        break;
      case StreamAction::Kind::kRecord:
        status = streams_.Record(action.stream, action.event);
        break;
      case StreamAction::Kind::kWait:
        status = streams_.Wait(action.stream, action.event);
        break;
      case StreamAction::Kind::kHost:
        return absl::InternalError("the host has to walk a part of what runs on streams");
    }
  }
  streams_.Use(StreamPlan::kCompute);
  return status;
}

absl::Status StreamStep::EnqueueInstruction(const StreamAction& action) {
  const artifact::Loop* loop = program_.instructions()->Get(action.instruction)->op_as_Loop();
  if (loop == nullptr) {
    streams_.Use(action.stream);
    return hooks_.enqueue(action);
  }
  const StreamBlock& body = plan_.blocks[action.first_block + 1];
  for (uint64_t trip = 0; trip < loop->trips(); ++trip) {
    if (absl::Status status = EnqueueActions(body, 0, body.size()); !status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status StreamStep::WalkLoop(const StreamAction& action, const artifact::Loop& loop) {
  hooks_.begin_loop(action.instruction);
  absl::Status status = WalkTrips(action, loop);
  hooks_.end_loop();
  return status;
}

absl::Status StreamStep::WalkTrips(const StreamAction& action, const artifact::Loop& loop) {
  for (uint64_t trip = 0; loop.predicate() != nullptr || trip < loop.trips(); ++trip) {
    if (absl::Status status = hooks_.begin_trip(trip, loop.predicate() == nullptr); !status.ok()) return status;
    if (loop.predicate() != nullptr) {
      std::byte predicate{0};
      absl::Status status = RunBlock(action.first_block, {});
      if (status.ok()) status = hooks_.wait();
      if (status.ok()) status = hooks_.read(*loop.predicate(), {&predicate, 1});
      if (!status.ok() || predicate == std::byte{0}) return status;
    }
    if (absl::Status status = RunBlock(action.first_block + 1, {}); !status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status StreamStep::WalkCase(const StreamAction& action, const artifact::Case& branches) {
  int32_t index = 0;
  std::byte bytes[sizeof(index)];
  absl::Status status = hooks_.wait();
  if (status.ok()) status = hooks_.read(*branches.index(), bytes);
  if (!status.ok()) return status;
  std::memcpy(&index, bytes, sizeof(index));
  const uint32_t count = branches.branches()->size();
  const bool has_branch = index >= 0 && static_cast<uint32_t>(index) < count;
  return RunBlock(action.first_block + (has_branch ? static_cast<uint32_t>(index) : count - 1), {});
}

}  // namespace sgd::exec
