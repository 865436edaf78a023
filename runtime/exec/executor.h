// Executes one program of an artifact on one rank: everything is prepared at creation, a step walks
// a flat list, parts of it several times where there are loops.
//
//   context  = ExecutionContext::Create(file, device, communicator)
//   executor = Executor::Create(*context, "train", options)
//   executor->UploadInput(i, global_bytes) ...   or fill executor->InputBytes(i), this rank's
//   shard, directly loop: executor->Run(step); read outputs; carry->Run();       (carry: see
//   carry.h)
//
// On a device with streams a step can be enqueued before the previous one has ended: see Begin.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "runtime/data/shard.h"
#include "runtime/exec/caller_buffers.h"
#include "runtime/exec/context.h"
#include "runtime/exec/host_call.h"
#include "runtime/exec/instruction_observer.h"
#include "runtime/exec/loop_watch.h"
#include "runtime/exec/prepared_program.h"
#include "runtime/exec/stream_timer.h"
#include "runtime/exec/wait_limit.h"
#include "runtime/watch/core_delay.h"
#include "runtime/watch/flight_ring.h"

namespace sgd::exec {

class Carry;          // carry.h
class ProgressWatch;  // progress_watch.h

struct ExecutorOptions {
  // Bounds each single wait for peers.
  absl::Duration timeout = absl::Seconds(300);
  // Bounds those of the host within steps instead, where it is not null; outlives the executor.
  const WaitLimit* wait_limit = nullptr;
  // Times every instruction: some 50 ns for each; on a device with streams they are launched one by one, with an event
  // before and behind each, and a kernel that is shorter than its launch seems to take as long as that.
  bool profile = false;
  // On a device with streams: gives it every instruction of every step one by one, instead of a recording, and waits
  // for each: an error of the device then names its instruction.
  bool eager = false;
  // Observes the execution of a device without streams; null for none. Must outlive the executor.
  ProgressWatch* progress = nullptr;
  // Where steps and instructions are written down as they begin; of a device with streams, steps alone. Null: nowhere.
  // Must outlive the executor.
  watch::FlightRing* flight = nullptr;
  // Told of each wait for other ranks, of a device without streams; null for none. Must outlive the executor.
  watch::CoreDelay* delay = nullptr;
  // Calls functions of the process where the program says so; null for none, and a program with such calls is refused.
  // Must outlive the executor.
  const HostCallHandler* host_calls = nullptr;
  // Of steps that are long in loops.
  LoopLimits loops = {};
  // Memory of the caller for inputs and outputs that this rank holds; others are in the context's arenas.
  std::vector<CallerTensor> inputs = {}, outputs = {};
};

// An input or output as this rank sees it.
struct Tensor {
  std::string name;                     // the model's own
  data::Shard shard;                    // global type and this rank's part of it
  std::byte* bytes;                     // shard.local_bytes() of device memory; outputs must only be read. The
                                        // caller's, where it gave some
  bool is_state;                        // inputs only: Input.state
  std::optional<uint32_t> carry_input;  // outputs only: the position of the input that it becomes
  bool is_held = true;  // whether this rank's stage has it, and no other rank owns it; else `bytes` is null
  // This rank's number among the ranks that hold this shard, and their number; none where another stage's ranks hold
  // all of the tensor too, and come first.
  uint32_t replica = 0;
  uint32_t replicas = 1;

  // Whether this rank is the first of those that hold this shard: it writes it to files.
  bool is_first() const { return replicas != 0 && replica == 0; }
};

// Wall time of the last step that has ended.
struct StepTiming {
  // From its begin, or from the end of the step before where that came later.
  absl::Duration total;
  // How long the host took to give it to a device with streams.
  absl::Duration host;
  // How long it waited for collectives, peers included: what of them was not hidden behind compute.
  absl::Duration communication;
};

// Two kinds: host_executor.h for devices that execute before the call returns, and
// stream_executor.h for those with streams.
class Executor {
 public:
  // Prepares all instructions. Ranks must create the executors of an artifact in the same order
  // (collectives are prepared). NotFound for an unknown program; Unimplemented for what the device
  // cannot do, with program, instruction and location.
  static absl::StatusOr<std::unique_ptr<Executor>> Create(ExecutionContext& context, std::string_view program,
                                                          const ExecutorOptions& options);
  virtual ~Executor() = default;
  Executor(const Executor&) = delete;
  Executor& operator=(const Executor&) = delete;

  // One step over what the inputs' bytes hold: no allocation of ours, no lock. Inputs may be
  // overwritten (donation), so fill all that are not carried before the next step. Errors say rank,
  // program, step, instruction, operation and source location.
  absl::Status Run(uint64_t step);

  // Run in two parts, for a device with streams: Begin gives it the step and returns, End waits for the first step that
  // has begun and not ended. kStepsUnderWay may be in flight: the next step's inputs are filled, given and copied while
  // one runs. Between them InputBytes is for staged inputs alone, and outputs that are no scalars must not be read.
  // Elsewhere Begin runs the step.
  //
  // `carry`, on a device with streams alone: the step ends with it, so of its outputs only scalars can be read.
  virtual absl::Status Begin(uint64_t step, Carry* carry = nullptr) = 0;
  virtual absl::Status End() = 0;
  virtual bool has_streams() const = 0;

  // Begin with the observer called around each instruction. Unimplemented on a device with streams, where instructions
  // run while others are enqueued.
  virtual absl::Status RunObserved(uint64_t step, InstructionObserver& observer) = 0;

  // Of a device that the host feeds by copies, before the first step: `fed` inputs are filled before every step, `kept`
  // ones hold the same before every step, what was filled before. ResourceExhausted when memory is.
  virtual absl::Status StageInputs(const std::vector<size_t>& fed, const std::vector<size_t>& kept) = 0;

  // Of the whole program, by position: a rank of a pipeline holds those of its stage.
  const std::vector<Tensor>& inputs() const { return inputs_; }
  const std::vector<Tensor>& outputs() const { return outputs_; }

  // Empty for what this rank does not hold. This rank's shard of an input in the host's memory, to be filled as a
  // whole; of an output, valid from Run until the next Run or carry, and of a scalar from the end of its step until the
  // end of the next one.
  virtual std::span<std::byte> InputBytes(size_t index) const = 0;
  virtual std::span<const std::byte> OutputBytes(size_t index) const = 0;
  // The value of an input between steps, valid until the next Run or carry.
  virtual std::span<const std::byte> ReadInput(size_t index) const = 0;
  // To be called where a Carry outside of steps has given the input its value: bytes of the host that were filled or
  // read before are out of date.
  virtual void DiscardInput(size_t index) {}
  // Not OK when a copy from the device has failed: what was read since then is not to be used.
  virtual absl::Status read_status() const = 0;

  // Cuts this rank's shard from a global row-major tensor; padding of uneven shards becomes zero.
  // InvalidArgument on another size.
  absl::Status UploadInput(size_t index, std::span<const std::byte> global);
  // Writes this rank's shard to its part of a global buffer, which ranks may share: only the first
  // of several ranks with the same shard writes, so all writes are disjoint.
  absl::Status DownloadOutput(size_t index, std::span<std::byte> global) const;

  const StepTiming& timing() const { return timing_; }
  // Memory beside the context's arenas: for inputs that are staged, and pinned memory of the host.
  virtual uint64_t staging_bytes() const = 0;
  virtual uint64_t pinned_bytes() const = 0;
  // With ExecutorOptions::profile: the wall time that each instruction takes in a step, all its executions together,
  // the least over the steps so far, by its index in the program; InfiniteDuration before the first step. Loops and
  // branches take none themselves. Empty otherwise.
  const std::vector<absl::Duration>& instruction_times() const { return instruction_times_; }
  // With ExecutorOptions::profile: the instructions of the last step that has ended, in the order in which they began
  // to run or were enqueued on streams.
  const std::vector<InstructionRun>& runs() const { return runs_; }
  // When that step began, by a clock of the host that does not jump; the epoch on a device with streams.
  absl::Time runs_begin() const { return runs_begin_; }
  const std::string& program() const { return program_->name(); }
  const PreparedProgram& prepared() const { return *program_; }

 protected:
  Executor(ExecutionContext& context, std::unique_ptr<PreparedProgram> program, const ExecutorOptions& options);
  // With profile: adds `runs_`, a step's, to the times of instructions.
  void KeepTimes();
  // Between buffers of the caller and the plan's memory, where a step uses that for other things too. On stream 0.
  absl::Status CopyIn() { return RunAll(copies_in_); }
  absl::Status CopyOut() { return RunAll(copies_out_); }
  // For the flight ring.
  void RecordStep(uint64_t step) {
    if (options_.flight != nullptr) options_.flight->Write(watch::FlightKind::kStep, step, program_position_);
  }
  void RecordStepEnd(uint64_t step) {
    if (options_.flight != nullptr) options_.flight->Write(watch::FlightKind::kStepEnded, step);
  }
  bool copies_in() const { return !copies_in_.empty(); }
  bool copies_out() const { return !copies_out_.empty(); }

  ExecutionContext& context_;
  const ExecutorOptions options_;
  const std::unique_ptr<PreparedProgram> program_;
  std::vector<Tensor> inputs_;
  std::vector<Tensor> outputs_;
  StepTiming timing_;
  std::vector<InstructionRun> runs_;
  absl::Time runs_begin_ = absl::UnixEpoch();

 private:
  using Thunks = std::vector<std::unique_ptr<device::Thunk>>;
  static absl::Status RunAll(const Thunks& thunks);
  absl::Status PrepareCopies(const CallerBuffers& buffers);

  Thunks copies_in_, copies_out_;
  uint16_t program_position_ = 0;           // in the artifact
  std::vector<absl::Duration> step_times_;  // with profile: as instruction_times_, of one step
  std::vector<absl::Duration> instruction_times_;
};

}  // namespace sgd::exec
