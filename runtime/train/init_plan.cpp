// Which of init's outputs are inputs that nothing else gives, and the bytes of its key.
#include "runtime/train/init_plan.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "runtime/artifact/tensor_path.h"
#include "runtime/train/generator.h"
#include "runtime/train/self_started.h"
#include "runtime/train/state_match.h"

namespace sgd::train {
namespace {

bool IsMissing(const Job& job, size_t input) {
  return !job.initial[input] && !job.IsFed(input) && !StartsByItself(job.program.inputs[input]);
}

// The outputs of init that initialise inputs which have no other source.
exec::CarryPairs PairsOfInit(Job& job, const ProgramView& init) {
  std::vector<bool> is_carried;
  for (size_t i = 0; i < job.program.inputs.size(); ++i)
    is_carried.push_back(job.IsCarried(i) && !StartsFromZeros(job.program.inputs[i]));
  const StateMatch match = MatchInit(init, job.program, is_carried);
  exec::CarryPairs pairs;
  for (const auto& pair : match.pairs) {
    if (IsMissing(job, pair.second)) pairs.push_back(pair);
  }
  const auto is_used = [&](const auto& pair) { return IsMissing(job, pair.second); };
  const auto first = std::ranges::find_if(match.by_position, is_used);
  if (first == match.by_position.end()) return pairs;
  job.notes.push_back(absl::StrCat(
      std::ranges::count_if(match.by_position, is_used), " inputs of program ", data::QuotedName(job.program.name),
      " start as the outputs of 'init' in their position, since names and types fit several; the first is ",
      InputName(job.program, first->second), " from ", OutputName(init, first->first)));
  return pairs;
}

// An output of the input's name that did not become it: their types differ.
absl::Status CheckNamesakes(const Job& job, const InitPlan& plan) {
  for (size_t i = 0; i < job.program.inputs.size(); ++i) {
    const bool is_given =
        std::ranges::any_of(plan.outputs_to_inputs, [&](const auto& pair) { return pair.second == i; });
    if (!IsMissing(job, i) || is_given) continue;
    for (size_t o = 0; o < plan.program.outputs.size(); ++o) {
      if (artifact::ResultPath(plan.program.outputs[o].name) != artifact::ArgumentPath(job.program.inputs[i].name))
        continue;
      return absl::InvalidArgumentError(
          absl::StrCat(OutputText(plan.program, o), " cannot be ", InputText(job.program, i), ": their types differ"));
    }
  }
  return absl::OkStatus();
}

// The seed as bytes of one of init's inputs.
absl::StatusOr<std::vector<std::byte>> KeyBytes(const ProgramView& init, size_t input, uint64_t seed) {
  const data::TensorType& type = init.inputs[input].type;
  std::vector<std::byte> bytes;
  if (StartsFromSeed(init.inputs[input])) {
    const std::array<uint64_t, 2> state = GeneratorStart(seed, /*is_init=*/true);
    bytes.resize(sizeof(state));
    std::memcpy(bytes.data(), state.data(), sizeof(state));
    return bytes;
  }
  if (type.element == data::ElementType::U32 && type.global_dims == data::Dims{2}) {
    const uint32_t key[2] = {static_cast<uint32_t>(seed >> 32), static_cast<uint32_t>(seed)};
    bytes.resize(sizeof(key));
    std::memcpy(bytes.data(), key, sizeof(key));
    return bytes;
  }
  if (type.global_dims.empty() && !artifact::IsFloat(type.element) && type.element != data::ElementType::Bool &&
      type.element != data::ElementType::C64) {
    bytes.resize(artifact::ElementSize(type.element));
    std::memcpy(bytes.data(), &seed, bytes.size());
    return bytes;
  }
  return absl::InvalidArgumentError(
      absl::StrCat(InputText(init, input), " cannot be made from --seed: only a key u32[2] and integer scalars can"));
}

}  // namespace

absl::Status PlanInit(Job& job) {
  bool is_needed = false;
  for (size_t i = 0; i < job.program.inputs.size(); ++i) is_needed = is_needed || IsMissing(job, i);
  // A checkpoint is all of the state: what it lacks is an error, and no reason to begin with half of it anew.
  if (!is_needed || !job.options.resume.empty() || job.is_without_state) return absl::OkStatus();
  if (!HasProgram(*job.file, "init") || job.program.name == "init") return absl::OkStatus();
  absl::StatusOr<ProgramView> program = ViewProgram(*job.file, "init");
  if (!program.ok()) return program.status();
  InitPlan plan{*std::move(program), {}, {}};
  plan.outputs_to_inputs = PairsOfInit(job, plan.program);
  if (absl::Status status = CheckNamesakes(job, plan); !status.ok()) return status;
  for (size_t i = 0; i < plan.program.inputs.size(); ++i) {
    absl::StatusOr<std::vector<std::byte>> key = KeyBytes(plan.program, i, job.seed);
    if (!key.ok()) return key.status();
    plan.inputs.push_back(*std::move(key));
  }
  job.init = std::move(plan);
  return absl::OkStatus();
}

}  // namespace sgd::train
