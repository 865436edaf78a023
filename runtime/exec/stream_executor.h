// Executes a program on a device with streams: enqueues a step, which ends later. Copies of a step's inputs and outputs
// and of the state that it carries are captured with it.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "runtime/device/streams.h"
#include "runtime/exec/executor.h"
#include "runtime/exec/host_tensors.h"
#include "runtime/exec/stream_timer.h"
#include "runtime/exec/stream_step.h"

namespace sgd::exec {

class StreamExecutor final : public Executor {
 public:
  // The context's device has streams and a host transfer. ResourceExhausted when the host has no more pinned memory.
  static absl::StatusOr<std::unique_ptr<Executor>> Create(ExecutionContext& context,
                                                          std::unique_ptr<PreparedProgram> program,
                                                          const ExecutorOptions& options);

  absl::Status Begin(uint64_t step, Carry* carry) override;
  absl::Status End() override;
  bool has_streams() const override { return true; }
  absl::Status RunObserved(uint64_t step, InstructionObserver& observer) override;
  absl::Status StageInputs(const std::vector<size_t>& fed, const std::vector<size_t>& kept) override;
  std::span<std::byte> InputBytes(size_t index) const override { return host_->FillInput(index); }
  std::span<const std::byte> OutputBytes(size_t index) const override { return host_->ReadOutput(index); }
  void DiscardInput(size_t index) override { host_->DiscardInput(index); }
  std::span<const std::byte> ReadInput(size_t index) const override { return host_->ReadInput(index); }
  absl::Status read_status() const override { return host_->status(); }
  uint64_t staging_bytes() const override { return host_->device_bytes(); }
  uint64_t pinned_bytes() const override { return host_->pinned_bytes(); }

 private:
  struct StepUnderWay {
    uint64_t step;
    device::Event* done;
    absl::Time begin;
    absl::Duration host;
  };

  StreamExecutor(ExecutionContext& context, std::unique_ptr<PreparedProgram> program, const ExecutorOptions& options)
      : Executor(context, std::move(program), options), loops_(*program_, options.loops) {}
  absl::Status PrepareHost();
  absl::Status PrepareStreams();
  StreamStep::Frame FrameOf(uint32_t slot, Carry* carry);
  absl::Status EnqueueStep(device::Event& done, Carry* carry);
  absl::Status PrepareTakes(const device::StreamPlan& plan);
  absl::Status EnqueueInstruction(const device::StreamAction& action);
  absl::Status Enqueue(const device::StreamAction& action);
  // Waits until `is_done`, for peers as well.
  absl::Status WaitUntil(const std::function<absl::StatusOr<bool>()>& is_done);
  // For all that was given to the stream.
  absl::Status WaitForStream(uint32_t stream);
  absl::Status StepError(const absl::Status& status, uint64_t step) const;

  LoopWatch loops_;
  std::unique_ptr<HostTensors> host_;
  std::unique_ptr<StreamStep> step_;
  std::deque<StepUnderWay> under_way_;  // given and not ended
  std::vector<std::unique_ptr<device::Event>> done_events_;
  absl::Time last_end_ = absl::InfinitePast();
  std::unique_ptr<device::Event> waited_;  // the point that the host waits for within a step
  std::unique_ptr<StreamTimer> timer_;     // with profile
  std::vector<std::string> range_names_;   // by instruction
  std::vector<artifact::Slice> places_;    // of messages
  uint32_t links_begin_ = 0;               // streams from here on are those of messages
  // Copies of messages out of their places, by Receive and place.
  std::map<std::pair<uint32_t, uint32_t>, std::unique_ptr<device::Thunk>> takes_;
};

}  // namespace sgd::exec
