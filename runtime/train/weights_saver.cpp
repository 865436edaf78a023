// One file of safetensors, as module.load_state_dict takes it.
#include "runtime/train/weights_saver.h"

#include <algorithm>
#include <map>
#include <string_view>

#include "absl/strings/str_cat.h"

namespace sgd::train {
namespace {

bool IsWeight(const data::InputType& input) {
  return input.role == artifact::InputRole::Parameter || input.role == artifact::InputRole::Buffer;
}

}  // namespace

std::vector<checkpoint::LocalTensor> SelectWeights(const Signature& program,
                                                   const std::vector<checkpoint::LocalTensor>& state) {
  std::map<std::string_view, const data::InputType*> weights;
  for (const data::InputType& input : program.inputs) {
    if (IsWeight(input)) weights.emplace(input.name, &input);
  }
  std::vector<checkpoint::LocalTensor> selected;
  for (const checkpoint::LocalTensor& tensor : state) {
    const auto found = weights.find(tensor.name);
    if (found == weights.end()) continue;
    selected.push_back(tensor);
    for (const std::string& alias : found->second->aliases) {
      selected.push_back(tensor);
      selected.back().name = alias;
    }
  }
  return selected;
}

absl::Status CheckHasWeights(const Signature& program) {
  const bool has_parameters = std::ranges::any_of(
      program.inputs, [](const data::InputType& input) { return input.role == artifact::InputRole::Parameter; });
  if (has_parameters) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("--save-weights writes parameters, and program ",
                                                 data::QuotedName(program.name),
                                                 " has none; expected a program that trains; leave the flag out"));
}

absl::Status WeightsSaver::Save(uint64_t /*steps_done*/) {
  return checkpoint::WriteShardedFile(path_, weights_(), {}, ranks_, deadline_);
}

}  // namespace sgd::train
