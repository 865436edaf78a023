// A program's instructions, each prepared for the device or the communicator of a rank, and what errors say of them.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "runtime/artifact/control_flow.h"
#include "runtime/comm/collectives/communicator.h"
#include "runtime/device/device.h"
#include "runtime/exec/context.h"
#include "runtime/exec/host_call.h"

namespace sgd::exec {

struct PreparedInstruction {
  enum class Kind { kThunk, kCollective, kStart, kDone, kSend, kReceive, kLoop, kCase };
  Kind kind = Kind::kThunk;
  std::unique_ptr<device::Thunk> thunk = nullptr;  // kThunk only
  comm::CollectiveHandle collective = {};          // kCollective, kStart, kDone
  comm::ChannelHandle channel = {};                // kSend, kReceive
  std::byte* message = nullptr;                    // kSend, kReceive: the source, which is only read, or the target
  uint64_t next = 0;                               // the instruction behind it and all that it runs
  std::vector<artifact::Block> blocks = {};        // kLoop, kCase: as artifact::BlocksOf
};

class PreparedProgram {
 public:
  // `memory` is where the program's slices are. Ranks must prepare the programs of an artifact in the same order: they
  // meet for collectives, each wait bounded by `timeout`. Borrows context and program. Unimplemented for what the
  // device cannot do, with program, instruction and location; FailedPrecondition, likewise, for a call of the host
  // without `host_calls`, which may be null and is borrowed.
  static absl::StatusOr<std::unique_ptr<PreparedProgram>> Prepare(ExecutionContext& context,
                                                                  const artifact::Program& program,
                                                                  device::MemoryMap memory, absl::Duration timeout,
                                                                  const HostCallHandler* host_calls);

  const std::string& name() const { return name_; }
  const artifact::Program& source() const { return source_; }
  const device::MemoryMap& memory() const { return memory_; }
  const artifact::Instruction& source(uint64_t index) const;
  uint64_t size() const { return instructions_.size(); }
  PreparedInstruction& operator[](uint64_t index) { return instructions_[index]; }

  // "model.py:12:3", or that it is unknown.
  std::string LocationOf(const artifact::Instruction& instruction) const;
  // "instruction 7 (launch) at model.py:12:3".
  std::string Describe(uint64_t index) const;
  // The status of instruction `index` with rank, program, operation and location.
  absl::Status Locate(const absl::Status& status, uint64_t index) const;

 private:
  PreparedProgram(ExecutionContext& context, const artifact::Program& program, device::MemoryMap memory,
                  const HostCallHandler* host_calls)
      : context_(context),
        source_(program),
        memory_(std::move(memory)),
        host_calls_(host_calls),
        name_(program.name()->str()) {}
  absl::Status PrepareAll(absl::Duration timeout);
  absl::Status PrepareThunks(absl::Duration timeout);
  absl::Status TakeAlgorithms(device::AlgorithmChoices& choices, absl::Duration timeout) const;
  device::PreparedThunk PrepareThunk(uint32_t index) const;
  absl::Status PrepareInstruction(uint32_t index);
  absl::Status PrepareCollective(const artifact::Collective& collective, uint32_t index);
  absl::Status PrepareMessage(uint32_t index, uint32_t number, const artifact::Slice& slice);

  ExecutionContext& context_;
  const artifact::Program& source_;
  const device::MemoryMap memory_;
  const HostCallHandler* const host_calls_;
  std::string name_;
  std::vector<PreparedInstruction> instructions_;
};

}  // namespace sgd::exec
