// Shared by both kinds of executors: the tensors of a program and the times of its instructions.
#include "runtime/exec/executor.h"

#include <algorithm>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "runtime/exec/host_executor.h"
#include "runtime/exec/stream_executor.h"

namespace sgd::exec {

Executor::Executor(ExecutionContext& context, std::unique_ptr<PreparedProgram> program, const ExecutorOptions& options)
    : context_(context), options_(options), program_(std::move(program)) {
  const artifact::Program& source = program_->source();
  for (uint32_t i = 0; i < artifact::Size(source.inputs()); ++i) {
    const artifact::Input& input = *source.inputs()->Get(i);
    inputs_.push_back({input.name()->str(), data::Shard(data::TypeOf(*input.type()), context.mesh(), context.rank()),
                       context.memory().Address(*input.slice()), input.state(), std::nullopt});
  }
  for (uint32_t i = 0; i < artifact::Size(source.outputs()); ++i) {
    const artifact::Output& output = *source.outputs()->Get(i);
    std::optional<uint32_t> carry;
    if (output.carry_input() >= 0) carry = static_cast<uint32_t>(output.carry_input());
    outputs_.push_back({output.name()->str(), data::Shard(data::TypeOf(*output.type()), context.mesh(), context.rank()),
                        context.memory().Address(*output.slice()), false, carry});
  }
  if (!options.profile) return;
  step_times_.resize(program_->size());
  instruction_times_.assign(program_->size(), absl::InfiniteDuration());
}

absl::StatusOr<std::unique_ptr<Executor>> Executor::Create(ExecutionContext& context, std::string_view program,
                                                           const ExecutorOptions& options) {
  absl::StatusOr<const artifact::Program*> source = context.file().FindProgram(program);
  if (!source.ok()) return source.status();
  absl::StatusOr<std::unique_ptr<PreparedProgram>> prepared =
      PreparedProgram::Prepare(context, **source, options.timeout);
  if (!prepared.ok()) return prepared.status();
  if (context.device().streams() != nullptr) return StreamExecutor::Create(context, *std::move(prepared), options);
  return std::make_unique<HostExecutor>(context, *std::move(prepared), options);
}

absl::Status Executor::Run(uint64_t step) {
  absl::Status status = Begin(step);
  return status.ok() ? End() : status;
}

void Executor::KeepTimes() {
  std::fill(step_times_.begin(), step_times_.end(), absl::ZeroDuration());
  for (const InstructionRun& run : runs_) step_times_[run.instruction] += run.length;
  for (size_t i = 0; i < step_times_.size(); ++i) {
    instruction_times_[i] = std::min(instruction_times_[i], step_times_[i]);
  }
}

absl::Status Executor::UploadInput(size_t index, std::span<const std::byte> global) {
  const Tensor& input = inputs_[index];
  if (global.size() != input.shard.global_bytes()) {
    return absl::InvalidArgumentError(absl::StrCat("input ", index, " '", absl::CEscape(input.name), "' of program '",
                                                   program(), "': given ", global.size(), " bytes, it has ",
                                                   input.shard.global_bytes()));
  }
  input.shard.CopyIn(global, InputBytes(index));
  return absl::OkStatus();
}

absl::Status Executor::DownloadOutput(size_t index, std::span<std::byte> global) const {
  const Tensor& output = outputs_[index];
  if (global.size() != output.shard.global_bytes()) {
    return absl::InvalidArgumentError(absl::StrCat("output ", index, " '", absl::CEscape(output.name), "' of program '",
                                                   program(), "': a buffer of ", global.size(), " bytes, it has ",
                                                   output.shard.global_bytes()));
  }
  if (output.shard.is_first_replica()) output.shard.CopyOut(OutputBytes(index), global);
  return read_status();
}

}  // namespace sgd::exec
