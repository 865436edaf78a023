// Walks a verified artifact and describes it as JSON.
#include "tools/sgd-inspect/describe.h"

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "runtime/artifact/collective.h"
#include "runtime/artifact/control_flow.h"
#include "runtime/artifact/element_type.h"
#include "runtime/artifact/explain_text.h"
#include "runtime/artifact/operands.h"
#include "runtime/artifact/schema_names.h"
#include "runtime/comm/collectives/collective_spec.h"
#include "runtime/linear_algebra/form.h"
#include "runtime/page/describe_types.h"
#include "runtime/page/kernel_table.h"
#include "runtime/trace/instruction_time.h"
#include "tools/sgd-inspect/tensor_names.h"

namespace sgd::inspect {
namespace {

using page::AxesJson;
using page::DeviceJson;
using Json = nlohmann::ordered_json;
using page::KernelsJson;
using page::LocationText;
using page::SliceJson;
using page::TypeJson;

using artifact::Size;

// Of a pipeline's stage: the position in the whole program.
template <typename Table>
int64_t PositionOf(const Table& value, uint64_t index) {
  return value.position() < 0 ? static_cast<int64_t>(index) : value.position();
}

template <typename Table>
Json ValueJson(const artifact::Artifact& root, const Table& value, const char* prefix, uint64_t index) {
  Json json = {{"position", absl::StrCat(prefix, PositionOf(value, index))}, {"name", value.name()->str()}};
  json.update(TypeJson(root, *value.type()));
  json["slice"] = SliceJson(*value.slice());
  return json;
}

Json DoubtJson(const artifact::Program& program, const artifact::Input& input) {
  if (input.carry_doubt() == nullptr) return Json();
  const int32_t candidate = input.carry_candidate();
  Json name;
  if (candidate >= 0) {
    const uint32_t index = static_cast<uint32_t>(candidate);
    name = absl::StrCat("result", PositionOf(*program.outputs()->Get(index), index));
  }
  return {{"why", input.carry_doubt()->str()}, {"candidate", name}};
}

Json BasisJson(artifact::CarryBasis basis) {
  return basis == artifact::CarryBasis::None ? Json() : Json(artifact::NameOf(basis));
}

Json RoleJson(artifact::OutputRole role) {
  return role == artifact::OutputRole::None ? Json() : Json(artifact::NameOf(role));
}

Json InputsJson(const artifact::Artifact& root, const artifact::Program& program) {
  Json inputs = Json::array();
  for (uint32_t i = 0; i < Size(program.inputs()); ++i) {
    inputs.push_back(ValueJson(root, *program.inputs()->Get(i), "arg", i));
    inputs.back()["state"] = program.inputs()->Get(i)->state();
    inputs.back()["narrow_bits"] = program.inputs()->Get(i)->narrow_bits();
    inputs.back()["role"] = artifact::NameOf(program.inputs()->Get(i)->role());
    inputs.back()["generator"] = program.inputs()->Get(i)->role() == artifact::InputRole::Generator;
    inputs.back()["carry_doubt"] = DoubtJson(program, *program.inputs()->Get(i));
  }
  return inputs;
}

Json OutputsJson(const artifact::Artifact& root, const artifact::Program& program) {
  Json outputs = Json::array();
  for (uint32_t i = 0; i < Size(program.outputs()); ++i) {
    outputs.push_back(ValueJson(root, *program.outputs()->Get(i), "result", i));
    const int32_t carry = program.outputs()->Get(i)->carry_input();
    outputs.back()["carry"] = Json();
    if (carry >= 0) {
      const uint32_t input = static_cast<uint32_t>(carry);
      outputs.back()["carry"] = absl::StrCat("arg", PositionOf(*program.inputs()->Get(input), input));
    }
    outputs.back()["carry_basis"] = BasisJson(program.outputs()->Get(i)->carry_basis());
    const artifact::OutputRole role = program.outputs()->Get(i)->role();
    outputs.back()["role"] = RoleJson(role);
    outputs.back()["is_loss"] = role == artifact::OutputRole::Loss;
    outputs.back()["is_commit"] = role == artifact::OutputRole::Commit;
  }
  return outputs;
}

Json OperandsJson(const artifact::Collective& collective, const std::function<std::string(uint32_t)>& name_of) {
  Json operands = Json::array();
  for (uint32_t i = 0; i < Size(collective.operands()); ++i) {
    const artifact::CollectiveOperand& operand = *collective.operands()->Get(i);
    const std::string name = name_of(i);
    operands.push_back({{"tensor", name.empty() ? Json() : Json(name)},
                        {"element", artifact::ElementName(operand.element())},
                        {"count", operand.count()},
                        {"source", SliceJson(*operand.source())},
                        {"target", SliceJson(*operand.target())}});
  }
  return operands;
}

// A program with what takes a walk over all of it to know of an instruction.
struct WalkedProgram {
  explicit WalkedProgram(const artifact::Program& program)
      : program(program), executions(artifact::ExecutionsOf(program)), done(executions.size()), names(program) {
    for (uint32_t i = 0; i < done.size(); ++i) {
      const artifact::Done* end = program.instructions()->Get(i)->op_as_Done();
      if (end != nullptr && end->start() < i && done[end->start()].is_null()) done[end->start()] = i;
    }
  }

  const artifact::Program& program;
  std::vector<uint64_t> executions;
  // The instruction that ends the collective at an index; null for one that runs to its end before the next.
  std::vector<Json> done;
  TensorNames names;
};

Json CollectiveJson(const artifact::Artifact& root, const WalkedProgram& walked, uint32_t index, bool with_operands) {
  const artifact::Program& program = walked.program;
  const artifact::Instruction& instruction = *program.instructions()->Get(index);
  const artifact::Collective& collective = *instruction.op_as_Collective();
  const comm::CollectiveSpec spec = artifact::SpecOf(collective, "");
  uint64_t operand_bytes = 0;
  for (const comm::CollectiveOperand& operand : spec.operands) {
    operand_bytes += operand.count * comm::ElementSize(operand.element);
  }
  Json json = {{"instruction", index},
               {"done", walked.done[index]},
               {"kind", artifact::NameOf(collective.kind())},
               {"reduce", comm::TraitsOf(spec.kind).reduces ? Json(artifact::NameOf(collective.reduce())) : Json()},
               {"axes", AxesJson(root, collective.axes())},
               {"group_size", comm::AxesSize(spec.axes)},
               {"tensors", Size(collective.operands())},
               {"operand_bytes", operand_bytes},
               {"sent_bytes", comm::SentBytes(artifact::MeshOf(root), spec)},
               {"staging_bytes", collective.staging() == nullptr ? 0 : collective.staging()->size()},
               {"executions", walked.executions[index]},
               {"loc", LocationText(program, instruction.loc())}};
  if (!with_operands) return json;
  const uint32_t end = walked.done[index].is_null() ? index : walked.done[index].get<uint32_t>();
  json["operands"] = OperandsJson(collective, [&](uint32_t operand) { return walked.names.Of(index, end, operand); });
  return json;
}

// The names of the steps, in their order.
Json EpilogueJson(const flatbuffers::Vector<artifact::EpilogueStep>* steps) {
  Json names = Json::array();
  for (uint32_t i = 0; i < Size(steps); ++i) names.push_back(artifact::NameOf(steps->Get(i)));
  return names;
}

Json MatmulJson(const artifact::Matmul& matmul) {
  Json batch = Json::array();
  for (uint32_t i = 0; i < Size(matmul.batch_dims()); ++i) batch.push_back(matmul.batch_dims()->Get(i));
  return {{"element", artifact::ElementName(matmul.element())},
          {"rhs", artifact::ElementName(artifact::RhsElementOf(matmul))},
          {"result", artifact::ElementName(artifact::ResultElementOf(matmul))},
          {"batch", batch},
          {"m", matmul.m()},
          {"n", matmul.n()},
          {"k", matmul.k()},
          {"epilogue", EpilogueJson(matmul.epilogue())},
          {"tf32", matmul.allows_tf32()},
          {"workspace_bytes", matmul.workspace() == nullptr ? 0 : matmul.workspace()->size()}};
}

Json ConvolutionJson(const artifact::Convolution& convolution) {
  Json windows = Json::array();
  for (uint32_t i = 0; i < Size(convolution.spatial()); ++i) {
    const artifact::WindowDim& dim = *convolution.spatial()->Get(i);
    windows.push_back(
        {{"input", dim.input()},
         {"output", dim.output()},
         {"kernel", dim.kernel()},
         {"stride", dim.stride()},
         {"dilation", dim.dilation()},
         {"low", dim.low()},
         {"lhs_dilation", Size(convolution.lhs_dilations()) == 0 ? 1 : convolution.lhs_dilations()->Get(i)}});
  }
  return {{"element", artifact::ElementName(convolution.element())},
          {"rounds", convolution.rounds()},
          {"workspace", convolution.workspace() == nullptr ? 0 : convolution.workspace()->size()},
          {"batch", convolution.batch()->size()},
          {"groups", convolution.groups()->size()},
          {"inputs", convolution.inputs()->size()},
          {"outputs", convolution.outputs()->size()},
          {"windows", windows},
          {"epilogue", EpilogueJson(convolution.epilogue())}};
}

Json LinearAlgebraJson(const artifact::LinearAlgebra& call) {
  return {{"kind", artifact::NameOf(call.kind())},
          {"options", call.options()},
          {"is_complex", (call.options() & linear_algebra::kComplex) != 0},
          {"element", artifact::ElementName(call.element())},
          {"batch", call.batch()},
          {"m", call.m()},
          {"n", call.n()},
          {"k", call.k()},
          {"lanes", call.lanes()},
          {"workspace_bytes", call.workspace() == nullptr ? 0 : call.workspace()->size()}};
}

Json AttentionJson(const artifact::Attention& attention) {
  return {{"element", artifact::ElementName(attention.element())},
          {"is_gradient", attention.gradients() != nullptr},
          {"batch", attention.batch()},
          {"heads", attention.heads()},
          {"key_heads", attention.key_heads()},
          {"rows", attention.rows()},
          {"columns", attention.columns()},
          {"depth", attention.depth()},
          {"value_depth", attention.value_depth()},
          {"scale", attention.scale()},
          {"diagonal", attention.has_diagonal() ? Json(attention.diagonal()) : Json()},
          {"bias", attention.bias() == nullptr ? Json() : Json(artifact::ElementName(attention.bias_element()))},
          {"batch_step", attention.batch_step()},
          {"head_step", attention.head_step()},
          {"workspace", attention.workspace() == nullptr ? 0 : attention.workspace()->size()}};
}

Json LaunchJson(const artifact::Artifact& root, const artifact::Launch& launch) {
  return {{"kernel", root.kernels()->Get(launch.kernel())->symbol()->str()},
          {"range", launch.range()},
          {"grain", launch.grain()}};
}

Json TiledJson(const artifact::Artifact& root, const artifact::Tiled& tiled) {
  Json loops = Json::array();
  for (uint32_t i = 0; i < Size(tiled.loops()); ++i) loops.push_back(tiled.loops()->Get(i));
  Json steps = Json::array();
  for (uint32_t i = 0; i < Size(tiled.steps()); ++i) {
    const artifact::TileStep& step = *tiled.steps()->Get(i);
    const artifact::Launch* launch = step.op_as_Launch();
    steps.push_back({{"op", launch != nullptr ? "launch" : "matmul"}});
    steps.back().update(launch != nullptr ? LaunchJson(root, *launch) : MatmulJson(*step.op_as_Matmul()));
  }
  return {{"loops", loops}, {"scratch_bytes", tiled.scratch_bytes()}, {"steps", steps}};
}

// Whether it is a matmul of f16 or bf16, for which devices have a peak rate of its own.
bool IsHalf(const artifact::Instruction& instruction) {
  const auto is_half = [](artifact::ElementType element) {
    return element == artifact::ElementType::F16 || element == artifact::ElementType::BF16;
  };
  if (const auto* matmul = instruction.op_as_Matmul()) return is_half(matmul->element());
  if (const auto* convolution = instruction.op_as_Convolution()) return is_half(convolution->element());
  return instruction.op_as_Attention() != nullptr;
}

// The bottleneck of an instruction on the device that the artifact was compiled for: "compute" where its arithmetic
// takes longer than its memory traffic, "memory" where the traffic does, "peers" for collectives; null where the
// artifact does not describe its device.
Json BoundOf(const artifact::Artifact& root, const artifact::Instruction& instruction) {
  if (instruction.op_as_Collective() != nullptr || instruction.op_as_Done() != nullptr) return "peers";
  const artifact::Copy* copy = instruction.op_as_Copy();
  if (copy != nullptr &&
      (copy->source()->space() == artifact::Space::Host || copy->target()->space() == artifact::Space::Host))
    return "host";
  const artifact::DeviceModel* device = root.device();
  if (device == nullptr) return Json();
  const double rate = IsHalf(instruction) ? device->half_flops() : device->flops();
  const double compute = static_cast<double>(instruction.flops()) / rate;
  return compute > static_cast<double>(instruction.bytes()) / device->memory_bandwidth() ? "compute" : "memory";
}

Json ExplainJson(const artifact::Program& program, const artifact::Explain& explain) {
  const std::unique_ptr<artifact::ExplainT> fields(explain.UnPack());
  Json json = {{"text", artifact::ExplainText(*fields)},
               {"loc", LocationText(program, fields->loc)},
               {"cause", artifact::NameOf(fields->cause)},
               {"seconds", fields->seconds}};
  if (fields->cause == artifact::MovementCause::Overlap) {
    json["hidden_seconds"] = fields->hidden_seconds;
    return json;
  }
  json.update(Json{{"op", fields->op},
                   {"tensor", fields->tensor},
                   {"source", fields->source},
                   {"from", fields->from},
                   {"to", fields->to},
                   {"kind", fields->kind},
                   {"step", fields->step},
                   {"steps", fields->steps},
                   {"bytes", fields->bytes},
                   {"holds_whole", fields->holds_whole}});
  return json;
}

Json InstructionJson(const artifact::Artifact& root, const WalkedProgram& walked, uint32_t index) {
  const artifact::Program& program = walked.program;
  const artifact::Instruction& instruction = *program.instructions()->Get(index);
  Json json = {{"index", index}, {"op", artifact::NameOf(instruction.op_type())}};
  if (const artifact::Launch* launch = instruction.op_as_Launch()) {
    json.update(LaunchJson(root, *launch));
  } else if (const artifact::LaunchGroup* group = instruction.op_as_LaunchGroup()) {
    json["launches"] = Json::array();
    for (const artifact::Launch* launch : *group->launches()) {
      json["launches"].push_back(LaunchJson(root, *launch));
    }
    for (uint32_t i = 0; i < Size(group->combined()); ++i) {
      const artifact::CombinedLaunches& combined = *group->combined()->Get(i);
      json["combined"].push_back(
          {{"kernel", root.kernels()->Get(combined.kernel())->symbol()->str()},
           {"launches", std::vector<uint32_t>(combined.launches()->begin(), combined.launches()->end())}});
    }
  } else if (const artifact::Matmul* matmul = instruction.op_as_Matmul()) {
    json.update(MatmulJson(*matmul));
  } else if (const artifact::Convolution* convolution = instruction.op_as_Convolution()) {
    json.update(ConvolutionJson(*convolution));
  } else if (const artifact::Attention* attention = instruction.op_as_Attention()) {
    json.update(AttentionJson(*attention));
  } else if (const artifact::LinearAlgebra* call = instruction.op_as_LinearAlgebra()) {
    json.update(LinearAlgebraJson(*call));
  } else if (const artifact::Tiled* tiled = instruction.op_as_Tiled()) {
    json.update(TiledJson(root, *tiled));
  } else if (instruction.op_as_Collective() != nullptr) {
    json.update(CollectiveJson(root, walked, index, /*with_operands=*/false));
    json.erase("instruction");
  } else if (const artifact::Fill* fill = instruction.op_as_Fill()) {
    std::string pattern(reinterpret_cast<const char*>(fill->pattern()->data()), fill->pattern()->size());
    json["pattern"] = absl::BytesToHexString(pattern);
  } else if (const artifact::Done* done = instruction.op_as_Done()) {
    json["start"] = done->start();
  } else if (const artifact::Send* send = instruction.op_as_Send()) {
    json["channel"] = send->channel();
  } else if (const artifact::HostCall* call = instruction.op_as_HostCall()) {
    json.update({{"id", call->id()}, {"callee", call->name()->str()}, {"each_rank", call->each_rank()}});
  } else if (const artifact::Receive* receive = instruction.op_as_Receive()) {
    json["channel"] = receive->channel();
  } else if (const artifact::Loop* loop = instruction.op_as_Loop()) {
    json["condition"] = loop->condition();
    json["body"] = loop->body();
    json["trips"] = loop->predicate() == nullptr ? Json(loop->trips()) : Json();
  } else if (const artifact::Case* branches = instruction.op_as_Case()) {
    json["branches"] = Json::array();
    for (uint32_t i = 0; i < Size(branches->branches()); ++i) json["branches"].push_back(branches->branches()->Get(i));
  }
  Json slices = Json::array();
  artifact::ForEachOperand(instruction, [&](const artifact::Operand& operand) {
    if (operand.slice == nullptr) return;
    Json entry = {{"role", operand.role}};
    entry.update(SliceJson(*operand.slice));
    slices.push_back(entry);
  });
  json["slices"] = slices;
  json["flops"] = instruction.flops();
  json["bytes"] = instruction.bytes();
  json["bound"] = BoundOf(root, instruction);
  json["executions"] = walked.executions[index];
  json["loc"] = LocationText(program, instruction.loc());
  json["scope"] = trace::ScopeOf(program, instruction);
  return json;
}

// One slice of memory over the program: the values in it, and the first and last instruction that
// touches it.
struct SliceUse {
  std::vector<std::string> values;
  int64_t first = -1;  // instructions; -1: none touches it
  int64_t last = -1;
};

Json SlicesJson(const artifact::Program& program) {
  std::map<std::tuple<artifact::Space, uint64_t, uint64_t>, SliceUse> uses;
  auto use = [&](const artifact::Slice& slice) -> SliceUse& {
    return uses[{slice.space(), slice.offset(), slice.size()}];
  };
  for (uint32_t i = 0; i < Size(program.inputs()); ++i) {
    use(*program.inputs()->Get(i)->slice()).values.push_back(absl::StrCat("arg", i));
  }
  for (uint32_t i = 0; i < Size(program.outputs()); ++i) {
    use(*program.outputs()->Get(i)->slice()).values.push_back(absl::StrCat("result", i));
  }
  for (uint32_t i = 0; i < Size(program.instructions()); ++i) {
    // The end of a collective is a use of what it works on.
    const artifact::Done* done = program.instructions()->Get(i)->op_as_Done();
    const uint32_t user = done == nullptr ? i : done->start();
    artifact::ForEachOperand(*program.instructions()->Get(user), [&](const artifact::Operand& operand) {
      if (operand.slice == nullptr) return;
      SliceUse& touched = use(*operand.slice);
      if (touched.first < 0) touched.first = i;
      touched.last = i;
    });
  }
  Json json = Json::array();
  for (const auto& [key, touched] : uses) {
    const auto& [space, offset, size] = key;
    json.push_back({{"space", artifact::NameOf(space)},
                    {"offset", offset},
                    {"size", size},
                    {"values", touched.values},
                    {"first", touched.first < 0 ? Json() : Json(touched.first)},
                    {"last", touched.first < 0 ? Json() : Json(touched.last)}});
  }
  return json;
}

Json ProgramJson(const artifact::Artifact& root, const artifact::Program& program, const Parts& parts) {
  const WalkedProgram walked(program);
  Json counts = Json::object();
  Json collectives = Json::array();
  Json code = Json::array();
  for (uint32_t i = 0; i < Size(program.instructions()); ++i) {
    const artifact::Operation kind = program.instructions()->Get(i)->op_type();
    Json& count = counts[artifact::NameOf(kind)];
    count = count.is_null() ? 1 : count.get<uint64_t>() + 1;
    if (kind == artifact::Operation::Collective)
      collectives.push_back(CollectiveJson(root, walked, i, parts.collectives));
    if (parts.program) code.push_back(InstructionJson(root, walked, i));
  }
  std::string hash;
  if (program.collective_hash() != nullptr)
    hash.assign(program.collective_hash()->begin(), program.collective_hash()->end());
  Json json = {{"name", program.name()->str()},
               {"inputs", InputsJson(root, program)},
               {"outputs", OutputsJson(root, program)},
               {"instructions", counts},
               {"flops", program.flops()},
               {"sent_bytes", program.sent_bytes()},
               {"collective_hash", absl::BytesToHexString(hash)},
               {"collectives", collectives}};
  if (program.stage() >= 0) json["stage"] = program.stage();
  if (parts.program) json["code"] = code;
  if (parts.memory) json["slices"] = SlicesJson(program);
  if (!parts.explain) return json;
  json["explain"] = Json::array();
  for (uint32_t i = 0; i < Size(program.explain()); ++i)
    json["explain"].push_back(ExplainJson(program, *program.explain()->Get(i)));
  return json;
}

void AddStages(const artifact::Artifact& root, Json& json) {
  json["stages"] = Json::array();
  for (const artifact::Stage* stage : *root.stages())
    json["stages"].push_back({{"private", stage->private_bytes()},
                              {"window", stage->window_bytes()},
                              {"host", stage->host_bytes()},
                              {"total", stage->private_bytes() + stage->window_bytes() + root.constant_bytes()}});
  json["channels"] = Json::array();
  for (uint32_t i = 0; i < Size(root.channels()); ++i) {
    const artifact::Channel& channel = *root.channels()->Get(i);
    json["channels"].push_back({{"channel", i},
                                {"from_stage", channel.from_stage()},
                                {"to_stage", channel.to_stage()},
                                {"depth", channel.depth()},
                                {"message_bytes", channel.slot_bytes()},
                                {"mailbox", SliceJson(*channel.mailbox())}});
  }
}

}  // namespace

nlohmann::ordered_json Describe(const artifact::ArtifactFile& file, const Parts& parts) {
  const artifact::Artifact& root = file.root();
  Json features = Json::array();
  for (uint32_t i = 0; i < Size(root.cpu_features()); ++i) features.push_back(root.cpu_features()->Get(i)->str());
  Json architectures = Json::array();
  for (uint32_t i = 0; i < Size(root.architectures()); ++i)
    architectures.push_back(root.architectures()->Get(i)->str());
  Json mesh = Json::array();
  for (uint32_t i = 0; i < Size(root.mesh()); ++i) {
    mesh.push_back({root.mesh()->Get(i)->name()->str(), root.mesh()->Get(i)->size()});
  }
  Json json = {{"path", file.path()},
               {"hash", artifact::HexHash(file.hash())},
               {"plan", file.plan()},
               {"compiler_version", root.compiler_version()->str()},
               {"target", root.target()->str()},
               {"cpu", root.cpu() == nullptr ? "" : root.cpu()->str()},
               {"cpu_features", features},
               {"architectures", architectures},
               {"device", DeviceJson(root.device())},
               {"mesh", mesh},
               {"ranks", file.ranks()},
               {"memory",
                {{"private", root.private_bytes()},
                 {"window", root.window_bytes()},
                 {"constants", root.constant_bytes()},
                 {"host", root.host_bytes()},
                 {"total", root.private_bytes() + root.window_bytes() + root.constant_bytes()}}},
               {"kernels", {{"count", Size(root.kernels())}, {"bytes", file.kernels().size()}}},
               {"programs", Json::array()}};
  if (Size(root.stages()) != 0) AddStages(root, json);
  if (parts.kernels) json["kernels"]["table"] = KernelsJson(root);
  for (uint32_t i = 0; i < Size(root.programs()); ++i) {
    json["programs"].push_back(ProgramJson(root, *root.programs()->Get(i), parts));
  }
  return json;
}

}  // namespace sgd::inspect
