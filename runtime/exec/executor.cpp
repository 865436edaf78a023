// Shared by both kinds of executors: the tensors of a program and the times of its instructions.
#include "runtime/exec/executor.h"

#include <algorithm>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "runtime/artifact/whole_program.h"
#include "runtime/exec/holding.h"
#include "runtime/exec/host_executor.h"
#include "runtime/exec/stream_executor.h"

namespace sgd::exec {
namespace {

// `own` is this rank's, or null.
template <typename T>
Tensor TensorOf(const ExecutionContext& context, const device::MemoryMap& memory, const artifact::Whole<T>& whole,
                const T* own) {
  Holding holding = HoldingOf(context.file(), context.mesh(), whole, context.rank());
  return {.name = whole.tensor->name()->str(),
          .shard = std::move(holding.shard),
          .bytes = holding.is_held ? memory.Address(*own->slice()) : nullptr,
          .is_state = false,
          .carry_input = std::nullopt,
          .is_held = holding.is_held,
          .replica = holding.replica,
          .replicas = holding.replicas};
}

// The same buffers by the positions of the rank's own program.
template <typename T>
absl::StatusOr<std::vector<CallerTensor>> OnRank(const std::vector<CallerTensor>& tensors,
                                                 const std::vector<artifact::Whole<T>>& whole,
                                                 const ExecutionContext& context, const char* what) {
  std::vector<CallerTensor> own;
  const uint32_t rank_of_stage = context.rank() % static_cast<uint32_t>(context.file().ranks_of_stage());
  for (const CallerTensor& tensor : tensors) {
    const artifact::Holder* holder =
        tensor.position < whole.size() ? whole[tensor.position].HolderOf(context.stage()) : nullptr;
    if (holder != nullptr) {
      const data::TensorType type = data::TypeOf(*whole[tensor.position].tensor->type());
      if (!type.owner.empty() && !data::Shard(type, context.mesh(), rank_of_stage).has_rows()) holder = nullptr;
    }
    if (holder == nullptr) {
      return absl::InvalidArgumentError(absl::StrCat("a buffer is for ", what, " ", tensor.position,
                                                     ", which this rank does not have; expected one of its own"));
    }
    own.push_back({holder->index, tensor.bytes});
  }
  return own;
}

absl::StatusOr<CallerBuffers> BuffersOf(const ExecutionContext& context, const artifact::Program& program,
                                        const ExecutorOptions& options) {
  const artifact::WholeProgram whole = artifact::WholeOf(context.file().root(), program.name()->string_view());
  const auto inputs = OnRank(options.inputs, whole.inputs, context, "input");
  if (!inputs.ok()) return inputs.status();
  const auto outputs = OnRank(options.outputs, whole.outputs, context, "output");
  if (!outputs.ok()) return outputs.status();
  return CallerBuffers::Bind(program, context.memory(), context.private_bytes(), *inputs, *outputs);
}

}  // namespace

Executor::Executor(ExecutionContext& context, std::unique_ptr<PreparedProgram> program, const ExecutorOptions& options)
    : context_(context), options_(options), program_(std::move(program)) {
  const artifact::Program& source = program_->source();
  const artifact::WholeProgram whole = artifact::WholeOf(context.file().root(), source.name()->string_view());
  for (const artifact::Whole<artifact::Input>& input : whole.inputs) {
    const artifact::Holder* holder = input.HolderOf(context.stage());
    inputs_.push_back(TensorOf(context, program_->memory(), input,
                               holder == nullptr ? nullptr : source.inputs()->Get(holder->index)));
    inputs_.back().is_state = input.tensor->state();
  }
  for (const artifact::Whole<artifact::Output>& output : whole.outputs) {
    const artifact::Holder* holder = output.HolderOf(context.stage());
    outputs_.push_back(TensorOf(context, program_->memory(), output,
                                holder == nullptr ? nullptr : source.outputs()->Get(holder->index)));
    if (const int64_t carry = whole.CarryOf(output); carry >= 0)
      outputs_.back().carry_input = static_cast<uint32_t>(carry);
  }
  const auto* programs = context.file().root().programs();
  for (uint32_t i = 0; i < artifact::Size(programs); ++i) {
    if (programs->Get(i) == &source) program_position_ = static_cast<uint16_t>(i);
  }
  for (const CallerTensor& tensor : options.inputs) inputs_[tensor.position].bytes = tensor.bytes.data();
  for (const CallerTensor& tensor : options.outputs) outputs_[tensor.position].bytes = tensor.bytes.data();
  if (!options.profile) return;
  step_times_.resize(program_->size());
  instruction_times_.assign(program_->size(), absl::InfiniteDuration());
}

absl::StatusOr<std::unique_ptr<Executor>> Executor::Create(ExecutionContext& context, std::string_view program,
                                                           const ExecutorOptions& options) {
  absl::StatusOr<const artifact::Program*> source = context.file().FindProgram(program, context.stage());
  if (!source.ok()) return source.status();
  absl::StatusOr<CallerBuffers> buffers = BuffersOf(context, **source, options);
  if (!buffers.ok()) return buffers.status();
  absl::StatusOr<std::unique_ptr<PreparedProgram>> prepared =
      PreparedProgram::Prepare(context, **source, buffers->memory(), options.timeout, options.host_calls);
  if (!prepared.ok()) return prepared.status();
  absl::StatusOr<std::unique_ptr<Executor>> executor =
      context.device().streams() != nullptr ? StreamExecutor::Create(context, *std::move(prepared), options)
                                            : std::make_unique<HostExecutor>(context, *std::move(prepared), options);
  if (!executor.ok()) return executor;
  if (absl::Status status = (*executor)->PrepareCopies(*buffers); !status.ok()) return status;
  return executor;
}

absl::Status Executor::PrepareCopies(const CallerBuffers& buffers) {
  const auto prepare = [&](const std::vector<CallerBuffers::Copy>& copies, Thunks& thunks) {
    for (const CallerBuffers::Copy& copy : copies) {
      device::PreparedThunk thunk = context_.device().PrepareCopy(copy.source, copy.target, copy.bytes);
      if (!thunk.ok()) return thunk.status();
      thunks.push_back(*std::move(thunk));
    }
    return absl::OkStatus();
  };
  absl::Status status = prepare(buffers.copies_in(), copies_in_);
  return status.ok() ? prepare(buffers.copies_out(), copies_out_) : status;
}

absl::Status Executor::RunAll(const Thunks& thunks) {
  for (const std::unique_ptr<device::Thunk>& thunk : thunks) {
    if (absl::Status status = thunk->Execute(); !status.ok()) return status;
  }
  return absl::OkStatus();
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
  if (input.is_held) input.shard.CopyIn(global, InputBytes(index));
  return absl::OkStatus();
}

absl::Status Executor::DownloadOutput(size_t index, std::span<std::byte> global) const {
  const Tensor& output = outputs_[index];
  if (global.size() != output.shard.global_bytes()) {
    return absl::InvalidArgumentError(absl::StrCat("output ", index, " '", absl::CEscape(output.name), "' of program '",
                                                   program(), "': a buffer of ", global.size(), " bytes, it has ",
                                                   output.shard.global_bytes()));
  }
  if (output.is_first()) output.shard.CopyOut(OutputBytes(index), global);
  return read_status();
}

}  // namespace sgd::exec
