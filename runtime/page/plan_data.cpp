// Instructions are columns of numbers; what is known of them by records alone is left there.
#include "runtime/page/plan_data.h"

#include <map>
#include <string>
#include <utility>

#include "runtime/artifact/collective.h"
#include "runtime/artifact/control_flow.h"
#include "runtime/artifact/element_type.h"
#include "runtime/artifact/schema_names.h"
#include "runtime/comm/collectives/collective_spec.h"
#include "runtime/page/describe_types.h"
#include "runtime/page/kernel_table.h"
#include "runtime/page/records.h"
#include "runtime/trace/instruction_time.h"

namespace sgd::page {
namespace {

using artifact::Size;
using PlainJson = nlohmann::json;

// Texts by number, each once.
class Texts {
 public:
  uint64_t NumberOf(const std::string& text) {
    const auto [place, is_new] = numbers_.try_emplace(text, numbers_.size());
    if (is_new) json_.push_back(text);
    return place->second;
  }
  PlainJson Take() { return std::move(json_); }

 private:
  PlainJson json_ = PlainJson::array();
  std::map<std::string, uint64_t> numbers_;
};

template <typename Strings>
PlainJson StringsJson(const Strings* strings) {
  PlainJson json = PlainJson::array();
  for (uint32_t i = 0; i < Size(strings); ++i) json.push_back(strings->Get(i)->str());
  return json;
}

// Bytes that a rank sends in one execution.
uint64_t SentBytes(const artifact::Artifact& root, const artifact::Instruction& instruction) {
  if (const artifact::Collective* collective = instruction.op_as_Collective())
    return comm::SentBytes(artifact::MeshOf(root), artifact::SpecOf(*collective, ""));
  const artifact::Send* send = instruction.op_as_Send();
  return send == nullptr ? 0 : root.channels()->Get(send->channel())->slot_bytes();
}

PlainJson InstructionsJson(const artifact::Artifact& root, const artifact::Program& program, Texts& texts) {
  PlainJson columns;
  for (const char* name : {"op", "what", "loc", "scope", "phase", "flops", "bytes", "executions", "sent"})
    columns[name] = PlainJson::array();
  const std::vector<uint64_t> executions = artifact::ExecutionsOf(program);
  for (uint32_t i = 0; i < executions.size(); ++i) {
    const artifact::Instruction& instruction = *program.instructions()->Get(i);
    columns["op"].push_back(texts.NumberOf(artifact::OperationName(instruction)));
    columns["what"].push_back(texts.NumberOf(trace::WhatOf(root, instruction)));
    columns["loc"].push_back(instruction.loc());
    columns["scope"].push_back(instruction.scope());
    columns["phase"].push_back(static_cast<int>(instruction.phase()));
    columns["flops"].push_back(instruction.flops());
    columns["bytes"].push_back(instruction.bytes());
    columns["executions"].push_back(executions[i]);
    columns["sent"].push_back(SentBytes(root, instruction));
  }
  return columns;
}

PlainJson LoopsJson(const artifact::Program& program) {
  PlainJson loops = PlainJson::array();
  for (uint32_t i = 0; i < Size(program.instructions()); ++i) {
    const artifact::Loop* loop = program.instructions()->Get(i)->op_as_Loop();
    if (loop != nullptr)
      loops.push_back({i, artifact::Next(program, i), loop->predicate() == nullptr ? loop->trips() : uint64_t{0}});
  }
  return loops;
}

uint64_t LocalBytes(const artifact::TensorInfo& type) {
  uint64_t bytes = artifact::ElementSize(type.element());
  for (uint32_t i = 0; i < Size(type.local_dims()); ++i) bytes *= type.local_dims()->Get(i);
  return bytes;
}

template <typename Tensor>
PlainJson TensorJson(const artifact::Artifact& root, const Tensor& tensor) {
  PlainJson json = TypeJson(root, *tensor.type());
  json["name"] = tensor.name()->str();
  json["bytes"] = LocalBytes(*tensor.type());
  json["role"] = artifact::NameOf(tensor.role());
  json["global"] = PlainJson::array();
  json["dims"] = PlainJson::array();
  for (uint32_t i = 0; i < Size(tensor.type()->global_dims()); ++i) {
    json["global"].push_back(tensor.type()->global_dims()->Get(i));
    json["dims"].push_back(tensor.type()->local_dims()->Get(i));
  }
  return json;
}

template <typename Tensors>
PlainJson TensorsJson(const artifact::Artifact& root, const Tensors* tensors) {
  PlainJson json = PlainJson::array();
  for (uint32_t i = 0; i < Size(tensors); ++i) json.push_back(TensorJson(root, *tensors->Get(i)));
  return json;
}

PlainJson ProgramJson(const artifact::Artifact& root, const artifact::Program& program) {
  Texts texts;
  PlainJson instructions = InstructionsJson(root, program, texts);
  return {{"name", program.name()->str()},
          {"stage", program.stage()},
          {"flops", program.flops()},
          {"sent_bytes", program.sent_bytes()},
          {"locations", StringsJson(program.locations())},
          {"scopes", StringsJson(program.scopes())},
          {"texts", texts.Take()},
          {"instructions", std::move(instructions)},
          {"loops", LoopsJson(program)},
          {"inputs", TensorsJson(root, program.inputs())},
          {"outputs", TensorsJson(root, program.outputs())}};
}

}  // namespace

absl::StatusOr<nlohmann::json> PlanData(const artifact::ArtifactFile& file) {
  absl::StatusOr<PlainJson> records = UnpackRecords(file);
  if (!records.ok()) return records.status();
  const artifact::Artifact& root = file.root();
  PlainJson mesh = PlainJson::array(), stages = mesh, programs = mesh;
  for (uint32_t i = 0; i < Size(root.mesh()); ++i)
    mesh.push_back({root.mesh()->Get(i)->name()->str(), root.mesh()->Get(i)->size()});
  for (uint32_t i = 0; i < Size(root.stages()); ++i) {
    const artifact::Stage& stage = *root.stages()->Get(i);
    stages.push_back(
        {{"private", stage.private_bytes()}, {"window", stage.window_bytes()}, {"host", stage.host_bytes()}});
  }
  for (uint32_t i = 0; i < Size(root.programs()); ++i) programs.push_back(ProgramJson(root, *root.programs()->Get(i)));
  return PlainJson{{"name", file.plan()},
                   {"hash", artifact::HexHash(file.hash())},
                   {"target", root.target()->str()},
                   {"compiler_version", root.compiler_version()->str()},
                   {"ranks", file.ranks()},
                   {"mesh", std::move(mesh)},
                   {"device", PlainJson(DeviceJson(root.device()))},
                   {"private_bytes", root.private_bytes()},
                   {"window_bytes", root.window_bytes()},
                   {"constant_bytes", root.constant_bytes()},
                   {"stages", std::move(stages)},
                   {"kernels", PlainJson(KernelsJson(root))},
                   {"programs", std::move(programs)},
                   {"records", *std::move(records)}};
}

}  // namespace sgd::page
