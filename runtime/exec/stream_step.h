// A step on a device with streams: the actions of a stream plan and what frames them, recorded once they have run and
// replayed from then on.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/artifact/program_generated.h"
#include "runtime/device/streams.h"
#include "runtime/device/stream_plan.h"

namespace sgd::exec {

class StreamStep {
 public:
  // The parts of a step.
  struct Hooks {
    // Gives what a kRun or kPost says to the stream in use, which is the action's. Errors say where it stands.
    std::function<absl::Status(const device::StreamAction& action)> enqueue;
    // Waits until everything given so far is complete but messages, which nobody may wait for here.
    std::function<absl::Status()> wait;
    // Copies from the device what is there then.
    std::function<absl::Status(const artifact::Slice& slice, std::span<std::byte> target)> read;
    // The host comes to a loop, to a trip of it, counted from 0, and out of it. An error ends the step.
    std::function<void(uint32_t instruction)> begin_loop;
    std::function<absl::Status(uint64_t trip, bool is_known)> begin_trip;
    std::function<void()> end_loop;
    // Bytes sent by all that was enqueued so far, and the count of those that a replay sends again.
    std::function<uint64_t()> sent_bytes;
    std::function<void(uint64_t bytes)> count_sent;
  };

  // Work of a step on stream 0 beside its program, as parts of the same captures; null for none.
  struct Frame {
    // Steps whose frames do different things have different numbers; each is recorded apart.
    uint32_t variant = 0;
    std::function<absl::Status()> before, after;
  };

  // Borrows the streams and the program, whose plan it is. With `records` a part of the step that has run once is
  // captured the second time and replayed ever after; without, instructions are launched one by one in every step.
  // Parts between which messages are in flight are not captured.
  static absl::StatusOr<std::unique_ptr<StreamStep>> Create(device::Streams& streams, const artifact::Program& program,
                                                            device::StreamPlan plan, Hooks hooks, bool records);

  // Enqueues one step, which may still run when it returns.
  absl::Status Run(const Frame& frame);

  const device::StreamPlan& plan() const { return plan_; }

 private:
  struct Recording {
    std::unique_ptr<device::Thunk> thunk;
    uint64_t sent_bytes = 0;  // by one execution
  };
  struct PartState {
    bool has_run = false;
    std::map<uint32_t, Recording> recordings;  // by variant
  };

  // Actions [begin, end) of a block that the host does not interrupt, and the frame's parts around them.
  struct Part {
    uint32_t block;
    size_t begin, end;
    const std::function<absl::Status()>*before, *after;  // null for nothing
  };

  StreamStep(device::Streams& streams, const artifact::Program& program, device::StreamPlan plan, Hooks hooks,
             bool records);
  bool Records(uint32_t block) const;
  absl::Status RunBlock(uint32_t block, const Frame& frame);
  absl::Status RunPart(const Part& part, uint32_t variant);
  absl::StatusOr<Recording> Record(const Part& part);
  absl::Status Enqueue(const Part& part);
  absl::Status EnqueueActions(const device::StreamBlock& block, size_t begin, size_t end);
  absl::Status EnqueueInstruction(const device::StreamAction& action);
  absl::Status WalkLoop(const device::StreamAction& action, const artifact::Loop& loop);
  absl::Status WalkTrips(const device::StreamAction& action, const artifact::Loop& loop);
  absl::Status WalkCase(const device::StreamAction& action, const artifact::Case& branches);

  device::Streams& streams_;
  const artifact::Program& program_;
  Hooks hooks_;
  bool records_;
  device::StreamPlan plan_;
  std::map<std::pair<uint32_t, size_t>, PartState> parts_;  // by block and first action
};

}  // namespace sgd::exec
