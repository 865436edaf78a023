// Executes a program on a device that has executed a thunk when the call returns, or synchronises before the host
// looks: one walk over the instructions.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "runtime/exec/executor.h"

namespace sgd::exec {

class HostExecutor final : public Executor {
 public:
  HostExecutor(ExecutionContext& context, std::unique_ptr<PreparedProgram> program, const ExecutorOptions& options)
      : Executor(context, std::move(program), options), loops_(*program_, options.loops) {}

  // FailedPrecondition with a carry.
  absl::Status Begin(uint64_t step, Carry* carry) override;
  absl::Status End() override;
  bool has_streams() const override { return false; }
  absl::Status RunObserved(uint64_t step, InstructionObserver& observer) override;
  // Nothing: the host fills inputs in their places.
  absl::Status StageInputs(const std::vector<size_t>& fed, const std::vector<size_t>& kept) override;
  std::span<std::byte> InputBytes(size_t index) const override;
  std::span<const std::byte> OutputBytes(size_t index) const override;
  std::span<const std::byte> ReadInput(size_t index) const override { return InputBytes(index); }
  absl::Status read_status() const override { return absl::OkStatus(); }
  uint64_t staging_bytes() const override { return 0; }
  uint64_t pinned_bytes() const override { return 0; }

 private:
  absl::Status RunBlock(const artifact::Block& block);
  absl::Status RunLoop(uint64_t index);
  absl::Status RunTrips(uint64_t index);
  absl::Status RunCase(uint64_t index);
  absl::Status Execute(PreparedInstruction& instruction);
  absl::Status ExecuteObserved(uint64_t index);
  absl::Status ExecuteTimed(uint64_t index);
  absl::Status ExecuteCollective(const PreparedInstruction& instruction);
  absl::Status Communicate(const PreparedInstruction& instruction);

  LoopWatch loops_;
  InstructionObserver* observer_ = nullptr;  // of the step that runs
  uint64_t step_ = 0;
};

}  // namespace sgd::exec
