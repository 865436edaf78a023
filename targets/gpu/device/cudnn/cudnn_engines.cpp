// Heuristics give configurations; an engine's number and its knobs make the same one again.
#include "targets/gpu/device/cudnn/cudnn_engines.h"

#include <algorithm>
#include <array>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"

namespace sgd::cuda {
namespace {

constexpr char kEngine[] = "engine ";
constexpr size_t kMostKnobs = 64, kMostNotes = 32;

absl::Status No(const std::string& why) { return absl::UnimplementedError(why); }

absl::Status CheckNotes(const CudnnDescriptor& engine, const EngineLimits& limits) {
  std::array<cudnnBackendNumericalNote_t, kMostNotes> notes{};
  absl::StatusOr<size_t> count = engine.Get(CUDNN_ATTR_ENGINE_NUMERICAL_NOTE, CUDNN_TYPE_NUMERICAL_NOTE,
                                            std::span<cudnnBackendNumericalNote_t>(notes));
  if (!count.ok()) return count.status();
  for (size_t i = 0; i < std::min(*count, kMostNotes); ++i) {
    switch (notes[i]) {
      case CUDNN_NUMERICAL_NOTE_STRICT_NAN_PROP:
        break;
      case CUDNN_NUMERICAL_NOTE_TENSOR_CORE:
        if (!limits.takes_tensor_cores) return No("an engine with tensor cores");
        break;
      default:  // down-converted inputs, reduced precision, transforms, nondeterminism
        return No("an engine with other results");
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<int64_t> NumberOf(const CudnnDescriptor& engine) {
  return engine.Get<int64_t>(CUDNN_ATTR_ENGINE_GLOBAL_INDEX, CUDNN_TYPE_INT64);
}

// So many empty descriptors of a type, for cuDNN to fill.
absl::StatusOr<std::vector<CudnnDescriptor>> Empty(const Cudnn& cudnn, cudnnBackendDescriptorType_t type,
                                                   size_t count) {
  std::vector<CudnnDescriptor> descriptors;
  for (size_t i = 0; i < count; ++i) {
    absl::StatusOr<CudnnDescriptor> descriptor = CudnnDescriptor::Create(cudnn, type);
    if (!descriptor.ok()) return descriptor.status();
    descriptors.push_back(*std::move(descriptor));
  }
  return descriptors;
}

// Descriptors of an attribute of `from`.
absl::StatusOr<std::vector<CudnnDescriptor>> GetDescriptors(const Cudnn& cudnn, const CudnnDescriptor& from,
                                                            cudnnBackendAttributeName_t name,
                                                            cudnnBackendDescriptorType_t type, size_t most) {
  absl::StatusOr<std::vector<CudnnDescriptor>> all = Empty(cudnn, type, most);
  if (!all.ok()) return all;
  std::vector<cudnnBackendDescriptor_t> handles;
  for (const CudnnDescriptor& descriptor : *all) handles.push_back(descriptor.get());
  absl::StatusOr<size_t> count =
      from.Get(name, CUDNN_TYPE_BACKEND_DESCRIPTOR, std::span<cudnnBackendDescriptor_t>(handles));
  if (!count.ok()) return count.status();
  all->erase(all->begin() + static_cast<std::ptrdiff_t>(std::min(*count, most)), all->end());
  return all;
}

absl::StatusOr<EngineChoice> ChoiceOf(const Cudnn& cudnn, const CudnnDescriptor& configuration,
                                      const EngineLimits& limits) {
  absl::StatusOr<std::vector<CudnnDescriptor>> engine =
      GetDescriptors(cudnn, configuration, CUDNN_ATTR_ENGINECFG_ENGINE, CUDNN_BACKEND_ENGINE_DESCRIPTOR, 1);
  if (!engine.ok()) return engine.status();
  if (engine->empty()) return No("a configuration without an engine");
  if (absl::Status status = CheckNotes(engine->front(), limits); !status.ok()) return status;
  absl::StatusOr<int64_t> number = NumberOf(engine->front());
  if (!number.ok()) return number.status();
  EngineChoice choice{.engine = *number, .knobs = {}};
  absl::StatusOr<std::vector<CudnnDescriptor>> knobs = GetDescriptors(
      cudnn, configuration, CUDNN_ATTR_ENGINECFG_KNOB_CHOICES, CUDNN_BACKEND_KNOB_CHOICE_DESCRIPTOR, kMostKnobs);
  if (!knobs.ok()) return knobs.status();
  for (const CudnnDescriptor& knob : *knobs) {
    absl::StatusOr<cudnnBackendKnobType_t> kind =
        knob.Get<cudnnBackendKnobType_t>(CUDNN_ATTR_KNOB_CHOICE_KNOB_TYPE, CUDNN_TYPE_KNOB_TYPE);
    absl::StatusOr<int64_t> value = knob.Get<int64_t>(CUDNN_ATTR_KNOB_CHOICE_KNOB_VALUE, CUDNN_TYPE_INT64);
    if (!kind.ok()) return kind.status();
    if (!value.ok()) return value.status();
    choice.knobs.emplace_back(static_cast<int64_t>(*kind), *value);
  }
  return choice;
}

absl::StatusOr<std::vector<CudnnDescriptor>> Heuristics(const Cudnn& cudnn, const CudnnDescriptor& graph,
                                                        cudnnBackendHeurMode_t mode) {
  absl::StatusOr<CudnnDescriptor> heuristics = CudnnDescriptor::Create(cudnn, CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR);
  if (!heuristics.ok()) return heuristics.status();
  absl::Status status = heuristics->Set(CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, graph);
  status.Update(heuristics->Set(CUDNN_ATTR_ENGINEHEUR_MODE, CUDNN_TYPE_HEUR_MODE, mode));
  if (cudnn.device() != nullptr) status.Update(heuristics->Set(CUDNN_ATTR_ENGINEHEUR_DEVICEPROP, *cudnn.device()));
  status.Update(heuristics->Finalize("to estimate"));
  if (!status.ok()) return status;
  absl::StatusOr<size_t> count = heuristics->Get(CUDNN_ATTR_ENGINEHEUR_RESULTS, CUDNN_TYPE_BACKEND_DESCRIPTOR,
                                                 std::span<cudnnBackendDescriptor_t>());
  if (!count.ok()) return count.status();
  return GetDescriptors(cudnn, *heuristics, CUDNN_ATTR_ENGINEHEUR_RESULTS, CUDNN_BACKEND_ENGINECFG_DESCRIPTOR, *count);
}

absl::StatusOr<CudnnDescriptor> ConfigurationOf(const Cudnn& cudnn, const CudnnDescriptor& graph,
                                                const EngineChoice& choice, const EngineLimits& limits) {
  absl::StatusOr<CudnnDescriptor> engine = CudnnDescriptor::Create(cudnn, CUDNN_BACKEND_ENGINE_DESCRIPTOR);
  if (!engine.ok()) return engine.status();
  absl::Status status = engine->Set(CUDNN_ATTR_ENGINE_OPERATION_GRAPH, graph);
  status.Update(engine->Set(CUDNN_ATTR_ENGINE_GLOBAL_INDEX, CUDNN_TYPE_INT64, choice.engine));
  if (cudnn.device() != nullptr) status.Update(engine->Set(CUDNN_ATTR_ENGINE_DEVICEPROP, *cudnn.device()));
  status.Update(engine->Finalize("an engine"));
  if (status.ok()) status = CheckNotes(*engine, limits);
  if (!status.ok()) return status;
  std::vector<CudnnDescriptor> knobs;
  std::vector<cudnnBackendDescriptor_t> handles;
  for (const auto& [kind, value] : choice.knobs) {
    absl::StatusOr<CudnnDescriptor> knob = CudnnDescriptor::Create(cudnn, CUDNN_BACKEND_KNOB_CHOICE_DESCRIPTOR);
    if (!knob.ok()) return knob.status();
    status =
        knob->Set(CUDNN_ATTR_KNOB_CHOICE_KNOB_TYPE, CUDNN_TYPE_KNOB_TYPE, static_cast<cudnnBackendKnobType_t>(kind));
    status.Update(knob->Set(CUDNN_ATTR_KNOB_CHOICE_KNOB_VALUE, CUDNN_TYPE_INT64, value));
    status.Update(knob->Finalize("a knob"));
    if (!status.ok()) return status;
    handles.push_back(knob->get());
    knobs.push_back(*std::move(knob));
  }
  absl::StatusOr<CudnnDescriptor> configuration = CudnnDescriptor::Create(cudnn, CUDNN_BACKEND_ENGINECFG_DESCRIPTOR);
  if (!configuration.ok()) return configuration;
  status = configuration->Set(CUDNN_ATTR_ENGINECFG_ENGINE, *engine);
  if (!handles.empty()) {
    status.Update(configuration->Set(CUDNN_ATTR_ENGINECFG_KNOB_CHOICES, CUDNN_TYPE_BACKEND_DESCRIPTOR,
                                     std::span<const cudnnBackendDescriptor_t>(handles)));
  }
  status.Update(configuration->Finalize("a configuration"));
  if (!status.ok()) return status;
  return configuration;
}

}  // namespace

std::string EngineChoice::Text() const {
  std::string text = absl::StrCat(kEngine, engine);
  for (const auto& [kind, value] : knobs) absl::StrAppend(&text, ", ", kind, "=", value);
  return text;
}

absl::StatusOr<EngineChoice> EngineChoice::Parse(std::string_view text) {
  const absl::Status wrong = absl::InvalidArgumentError("not the choice of an engine");
  EngineChoice choice;
  bool is_first = true;
  if (!text.starts_with(kEngine)) return wrong;
  const std::vector<std::string> parts = absl::StrSplit(std::string(text.substr(sizeof(kEngine) - 1)), ", ");
  for (const std::string& part : parts) {
    if (is_first) {
      if (!absl::SimpleAtoi(part, &choice.engine)) return wrong;
      is_first = false;
      continue;
    }
    const std::vector<std::string> pair = absl::StrSplit(part, '=');
    int32_t kind = 0;  // values of an enumeration
    int64_t value = 0;
    if (pair.size() != 2 || !absl::SimpleAtoi(pair[0], &kind) || kind < 0 || kind >= 64 ||
        !absl::SimpleAtoi(pair[1], &value) || choice.knobs.size() == kMostKnobs)
      return wrong;
    choice.knobs.emplace_back(kind, value);
  }
  return choice;
}

absl::StatusOr<std::vector<EngineChoice>> ProposeEngines(const Cudnn& cudnn, const CudnnDescriptor& graph,
                                                         const EngineLimits& limits) {
  std::vector<EngineChoice> choices;
  absl::Status first = absl::OkStatus();
  for (cudnnBackendHeurMode_t mode : {CUDNN_HEUR_MODE_A, CUDNN_HEUR_MODE_FALLBACK}) {
    absl::StatusOr<std::vector<CudnnDescriptor>> configurations = Heuristics(cudnn, graph, mode);
    // One mode may have nothing to say.
    if (!configurations.ok()) {
      first.Update(configurations.status());
      continue;
    }
    for (const CudnnDescriptor& configuration : *configurations) {
      absl::StatusOr<EngineChoice> choice = ChoiceOf(cudnn, configuration, limits);
      if (choice.ok()) choices.push_back(*std::move(choice));
    }
  }
  if (choices.empty() && !first.ok()) return first;
  return choices;
}

absl::StatusOr<CudnnDescriptor> PlanWith(const Cudnn& cudnn, const CudnnDescriptor& graph, const EngineChoice& choice,
                                         const EngineLimits& limits) {
  absl::StatusOr<CudnnDescriptor> configuration = ConfigurationOf(cudnn, graph, choice, limits);
  if (!configuration.ok()) return configuration;
  absl::StatusOr<CudnnDescriptor> plan = CudnnDescriptor::Create(cudnn, CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
  if (!plan.ok()) return plan;
  absl::Status status = plan->Set(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, *configuration);
  // Before version 9.8 the handle says which GPU it is for.
  if (cudnn.handle() != nullptr)
    status.Update(plan->Set(CUDNN_ATTR_EXECUTION_PLAN_HANDLE, CUDNN_TYPE_HANDLE, cudnn.handle()));
  if (cudnn.device() != nullptr) status.Update(plan->Set(CUDNN_ATTR_EXECUTION_PLAN_DEVICEPROP, *cudnn.device()));
  status.Update(plan->Finalize("to compute this on this GPU"));
  if (!status.ok()) return status;
  absl::StatusOr<int64_t> workspace = plan->Get<int64_t>(CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE, CUDNN_TYPE_INT64);
  if (!workspace.ok()) return workspace.status();
  if (*workspace < 0 || static_cast<uint64_t>(*workspace) > limits.workspace_bytes)
    return No("an engine that needs more workspace than the plan has");
  return plan;
}

}  // namespace sgd::cuda
