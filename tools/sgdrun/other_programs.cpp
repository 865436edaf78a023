// Matching of names and types between the main program, init and eval.
#include "tools/sgdrun/other_programs.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "runtime/artifact/tensor_path.h"
#include "runtime/data/row_feed.h"
#include "runtime/train/state_match.h"
#include "tools/sgdrun/generator.h"

namespace sgd::sgdrun {
namespace {

bool SameValue(const data::InputType& a, const data::InputType& b) {
  return a.type.element == b.type.element && a.type.global_dims == b.type.global_dims;
}

bool IsMissing(const Job& job, size_t input) {
  return !job.initial[input] && !job.IsFed(input) && !IsGenerator(job.program.inputs[input]);
}

// What init gives of what nothing else gives.
exec::CarryPairs PairsOfInit(Job& job, const ProgramView& init) {
  std::vector<bool> is_carried;
  for (size_t i = 0; i < job.program.inputs.size(); ++i) is_carried.push_back(job.IsCarried(i));
  const train::StateMatch match = train::MatchInit(init, job.program, is_carried);
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
      train::InputName(job.program, first->second), " from ", train::OutputName(init, first->first)));
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
  if (IsGenerator(init.inputs[input])) {
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
  if (type.global_dims.empty() && !artifact::IsFloat(type.element) && type.element != data::ElementType::Bool) {
    bytes.resize(artifact::ElementSize(type.element));
    std::memcpy(bytes.data(), &seed, bytes.size());
    return bytes;
  }
  return absl::InvalidArgumentError(
      absl::StrCat(InputText(init, input), " cannot be made from --seed: only a key u32[2] and integer scalars can"));
}

// What eval's inputs get from the main program, and which tensors of the data feed the rest.
struct EvalSources {
  std::vector<std::pair<size_t, size_t>> shared;
  std::vector<data::RowFeed::Source> fed;
};

// The tensor that --feed gives to the input called `name`, which may stand in --feed by its
// position in the main program.
std::optional<std::string> FedTensor(const Job& job, const std::string& name) {
  for (const auto& [input, tensor] : job.options.feed) {
    std::optional<size_t> position = job.program.input_names.Find(input);
    if (input == name || (position && job.program.inputs[*position].name == name)) return tensor;
  }
  return std::nullopt;
}

// Inputs of the main program that are eval's, by position in eval.
struct MainInputs {
  std::vector<std::optional<size_t>> by_name, by_path;
};

// A program without names has only positions, which mean nothing in another program.
MainInputs MainInputsOf(const Job& job, const ProgramView& eval) {
  MainInputs found{std::vector<std::optional<size_t>>(eval.inputs.size()),
                   std::vector<std::optional<size_t>>(eval.inputs.size())};
  std::map<std::string_view, size_t> names;
  for (size_t i = 0; i < job.program.inputs.size(); ++i) names.emplace(job.program.inputs[i].name, i);
  std::vector<bool> is_missing(eval.inputs.size());
  for (size_t i = 0; i < eval.inputs.size(); ++i) {
    const auto at = names.find(eval.inputs[i].name);
    const bool is_nameless = eval.inputs[i].name == eval.input_names.Position(i);
    if (at != names.end() && !is_nameless) found.by_name[i] = at->second;
    is_missing[i] = !found.by_name[i] && !is_nameless;
  }
  for (const auto& [main, input] : train::MatchEval(job.program, eval, is_missing)) found.by_path[input] = main;
  return found;
}

absl::Status AddEvalInput(const Job& job, const ProgramView& eval, size_t input, const MainInputs& mains,
                          const data::SafetensorsFile* file, EvalSources& sources) {
  const std::string& name = eval.inputs[input].name;
  std::optional<size_t> main = mains.by_name[input];
  std::optional<std::string> tensor = FedTensor(job, name);
  if (!tensor && file != nullptr && file->Find(name) != nullptr && !(main && job.IsCarried(*main))) tensor = name;
  if (tensor && file != nullptr) {
    sources.fed.push_back({input, *tensor});
    return absl::OkStatus();
  }
  if (!main) main = mains.by_path[input];
  if (!main || job.IsFed(*main)) {
    return absl::InvalidArgumentError(absl::StrCat(InputText(eval, input), " is neither state of program ",
                                                   data::QuotedName(job.program.name), " nor in --eval-data",
                                                   file == nullptr ? ", which is not given" : ""));
  }
  if (!SameValue(job.program.inputs[*main], eval.inputs[input])) {
    return absl::InvalidArgumentError(
        absl::StrCat(InputText(job.program, *main), " cannot be ", InputText(eval, input), ": their types differ"));
  }
  sources.shared.emplace_back(*main, input);
  return absl::OkStatus();
}

}  // namespace

absl::Status PlanInit(Job& job) {
  bool is_needed = false;
  for (size_t i = 0; i < job.program.inputs.size(); ++i) is_needed = is_needed || IsMissing(job, i);
  // A checkpoint is all of the state: what it lacks is an error, and no reason to begin with half of it anew.
  if (!is_needed || !job.options.resume.empty()) return absl::OkStatus();
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

absl::Status PlanEval(Job& job) {
  if (job.options.eval_every == 0) return absl::OkStatus();
  absl::StatusOr<ProgramView> program = ViewProgram(*job.file, "eval");
  if (!program.ok()) return program.status();
  FilePtr file;
  if (!job.options.eval_data.empty()) {
    absl::StatusOr<data::SafetensorsFile> opened = data::SafetensorsFile::Open(job.options.eval_data);
    if (!opened.ok()) return opened.status();
    file = std::make_shared<const data::SafetensorsFile>(*std::move(opened));
  }
  EvalPlan plan(*std::move(program));
  EvalSources sources;
  const MainInputs mains = MainInputsOf(job, plan.program);
  for (size_t i = 0; i < plan.program.inputs.size(); ++i) {
    absl::Status status = AddEvalInput(job, plan.program, i, mains, file.get(), sources);
    if (!status.ok()) return status;
  }
  plan.shared_inputs = std::move(sources.shared);
  if (file != nullptr) {
    absl::StatusOr<std::unique_ptr<data::RowFeed>> feed =
        data::RowFeed::Make(file, plan.program.inputs, sources.fed, std::nullopt);
    if (!feed.ok()) return feed.status();
    plan.batches = (*feed)->batches_per_epoch();
    plan.rows_left_out = (*feed)->rows() % (*feed)->batch_rows();
    if (plan.rows_left_out > 0) {
      job.notes.push_back(absl::StrCat("evaluation leaves out the last ", plan.rows_left_out, " of ", (*feed)->rows(),
                                       " rows, which do not fill a batch of ", (*feed)->batch_rows()));
    }
    plan.feed = *std::move(feed);
  }
  job.eval = std::move(plan);
  return absl::OkStatus();
}

}  // namespace sgd::sgdrun
