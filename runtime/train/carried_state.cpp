// Inputs of the main program, which stay in their memory, or are kept beside it where a step uses that for other
// things.
#include "runtime/train/carried_state.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/memory/memory.h"
#include "absl/strings/str_cat.h"
#include "runtime/artifact/kept_inputs.h"

namespace sgd::train {

std::vector<checkpoint::LocalTensor> StateSnapshot::Tensors() const {
  std::vector<checkpoint::LocalTensor> views;
  for (const Tensor& tensor : tensors_) views.push_back({tensor.name, tensor.shard, tensor.bytes, tensor.writes});
  return views;
}

absl::StatusOr<std::unique_ptr<CarriedState>> CarriedState::Create(const Job& job, exec::ExecutionContext& context,
                                                                   exec::Executor& executor) {
  auto state = absl::WrapUnique(new CarriedState(job, context, executor));
  absl::StatusOr<std::unique_ptr<exec::Carry>> carry = exec::Carry::Create(context, executor, executor, job.carry);
  if (!carry.ok()) return carry.status();
  state->carry_ = *std::move(carry);
  return state;
}

absl::Status CarriedState::KeepConstants() {
  absl::StatusOr<const artifact::Program*> program = job_.file->FindProgram(job_.program.name, context_.stage());
  if (!program.ok()) return program.status();
  const size_t count = job_.program.inputs.size();
  constants_.resize(count);
  is_kept_.resize(count);
  std::vector<size_t> fed, restored;
  for (size_t i = 0; i < count; ++i) {
    const artifact::Holder* holder = job_.program.whole.inputs[i].HolderOf(context_.stage());
    if (holder == nullptr) continue;
    if (job_.IsFed(i)) fed.push_back(i);
    if (!job_.IsConstant(i)) continue;
    is_kept_[i] = artifact::KeepsInput(job_.file->root(), **program, holder->index);
    if (!is_kept_[i]) restored.push_back(i);
  }
  if (executor_.has_streams()) return executor_.StageInputs(fed, restored);
  for (size_t i : restored) {
    const std::span<const std::byte> bytes = executor_.ReadInput(i);
    constants_[i].assign(bytes.begin(), bytes.end());
  }
  return absl::OkStatus();
}

void CarriedState::RestoreConstants() {
  for (size_t i = 0; i < constants_.size(); ++i) {
    if (!constants_[i].empty()) std::memcpy(executor_.InputBytes(i).data(), constants_[i].data(), constants_[i].size());
  }
}

std::span<const std::byte> CarriedState::Bytes(size_t input) const {
  // A step may have used a constant input's memory for other things.
  if (!constants_[input].empty()) return constants_[input];
  return executor_.ReadInput(input);
}

std::vector<checkpoint::LocalTensor> CarriedState::Tensors() const {
  std::vector<checkpoint::LocalTensor> tensors;
  for (size_t i = 0; i < executor_.inputs().size(); ++i) {
    if (job_.IsFed(i)) continue;
    const exec::Tensor& input = executor_.inputs()[i];
    tensors.push_back({job_.program.inputs[i].name, input.shard, Bytes(i), input.is_first()});
    tensors.back().replica = input.replica;
    tensors.back().replicas = input.replicas;
  }
  return tensors;
}

absl::Status CarriedState::Snapshot(StateSnapshot& snapshot) const {
  const bool is_new = snapshot.is_empty();
  for (size_t i = 0; is_new && i < executor_.inputs().size(); ++i) {
    if (job_.IsFed(i)) continue;
    const exec::Tensor& input = executor_.inputs()[i];
    snapshot.tensors_.push_back({.input = i,
                                 .name = job_.program.inputs[i].name,
                                 .shard = input.shard,
                                 .writes = input.is_first(),
                                 .bytes = std::vector<std::byte>(input.is_held ? input.shard.local_bytes() : 0)});
  }
  for (StateSnapshot::Tensor& tensor : snapshot.tensors_) {
    if (is_new || job_.IsCarried(tensor.input)) std::ranges::copy(Bytes(tensor.input), tensor.bytes.begin());
  }
  return executor_.read_status();
}

absl::Status CarriedState::Restore(const StateSnapshot& snapshot) {
  for (const StateSnapshot::Tensor& tensor : snapshot.tensors_) {
    const bool is_here = tensor.input < job_.program.inputs.size() &&
                         job_.program.inputs[tensor.input].name == tensor.name &&
                         executor_.InputBytes(tensor.input).size() == tensor.bytes.size();
    if (!is_here) {
      return absl::FailedPreconditionError(
          absl::StrCat("a snapshot has ", data::QuotedName(tensor.name), " of ", tensor.bytes.size(),
                       " bytes, which program ", data::QuotedName(job_.program.name),
                       " has not on this rank; expected a snapshot of the same program and rank"));
    }
  }
  for (const StateSnapshot::Tensor& tensor : snapshot.tensors_) {
    if (job_.IsCarried(tensor.input)) std::ranges::copy(tensor.bytes, executor_.InputBytes(tensor.input).begin());
  }
  return absl::OkStatus();
}

}  // namespace sgd::train
