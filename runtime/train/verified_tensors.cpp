// Names in the image are numbers: an input and an output may have one name.
#include "runtime/train/verified_tensors.h"

#include "absl/strings/str_cat.h"

namespace sgd::train {
namespace {

const data::InputType& TypeOf(const Job& job, const VerifiedTensor& tensor) {
  return tensor.time == TensorTime::kOutput ? job.program.outputs[tensor.position]
                                            : job.program.inputs[tensor.position];
}

}  // namespace

std::vector<VerifiedTensor> VerifiedTensors(const Job& job) {
  std::vector<VerifiedTensor> tensors;
  for (size_t i = 0; i < job.program.inputs.size(); ++i) tensors.push_back({TensorTime::kBefore, i});
  std::vector<bool> is_carried(job.program.outputs.size());
  for (const auto& [output, input] : job.carry) is_carried[output] = true;
  for (const bool is_loss : {true, false}) {
    for (size_t i = 0; i < job.program.outputs.size(); ++i) {
      if (!is_carried[i] && (job.loss == i) == is_loss) tensors.push_back({TensorTime::kOutput, i});
    }
  }
  for (size_t i = 0; i < job.program.inputs.size(); ++i) {
    if (job.IsCarried(i)) tensors.push_back({TensorTime::kAfter, i});
  }
  return tensors;
}

std::vector<data::TensorSpec> SpecsOf(const Job& job, std::span<const VerifiedTensor> tensors) {
  std::vector<data::TensorSpec> specs;
  for (const VerifiedTensor& tensor : tensors) {
    const data::InputType& type = TypeOf(job, tensor);
    specs.push_back({absl::StrCat(specs.size()), type.type.element, type.type.global_dims});
  }
  return specs;
}

std::string NameOf(const Job& job, const VerifiedTensor& tensor) { return ShortName(TypeOf(job, tensor).name); }

std::optional<VerifiedTensor> CounterpartOf(const Job& job, const VerifiedTensor& tensor, const Job& other) {
  const data::InputType& wanted = TypeOf(job, tensor);
  const auto& candidates = tensor.time == TensorTime::kOutput ? other.program.outputs : other.program.inputs;
  for (size_t i = 0; i < candidates.size(); ++i) {
    const bool is_same = candidates[i].name == wanted.name && candidates[i].type.element == wanted.type.element &&
                         candidates[i].type.global_dims == wanted.type.global_dims;
    if (is_same && (tensor.time != TensorTime::kAfter || other.IsCarried(i))) return VerifiedTensor{tensor.time, i};
  }
  return std::nullopt;
}

checkpoint::LocalTensor LocalTensorOf(const StepReplay& replay, const VerifiedTensor& tensor) {
  const exec::Executor& executor = replay.session().executor();
  const bool is_output = tensor.time == TensorTime::kOutput;
  const exec::Tensor& held = (is_output ? executor.outputs() : executor.inputs())[tensor.position];
  const std::span<const std::byte> bytes = is_output                           ? replay.Output(tensor.position)
                                           : tensor.time == TensorTime::kAfter ? replay.InputAfter(tensor.position)
                                                                               : replay.InputBefore(tensor.position);
  checkpoint::LocalTensor local(held.name, held.shard, bytes, held.is_first());
  local.replica = held.replica;
  local.replicas = held.replicas;
  return local;
}

}  // namespace sgd::train
