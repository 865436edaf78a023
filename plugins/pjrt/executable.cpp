// From programs to executables: compiles, opens, and describes.
#include "plugins/pjrt/executable.h"

#include <algorithm>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "plugins/pjrt/element_type.h"
#include "plugins/pjrt/op_sharding.h"
#include "runtime/artifact/container.h"

namespace sgd::pjrt {
namespace {

// As frameworks have them: an unreduced array does not count its summands.
std::vector<int64_t> DimsOf(const data::TensorType& type, const data::Dims& dims) {
  return {dims.begin() + (type.has_summands ? 1 : 0), dims.end()};
}

// Integers below 8 bits take a byte each in artifacts too.
bool IsNarrowOf(std::optional<PJRT_Buffer_Type> named, PJRT_Buffer_Type held) {
  return (held == PJRT_Buffer_Type_S8 && (named == PJRT_Buffer_Type_S4 || named == PJRT_Buffer_Type_S2)) ||
         (held == PJRT_Buffer_Type_U8 && (named == PJRT_Buffer_Type_U4 || named == PJRT_Buffer_Type_U2));
}

// complex128 is f64 with a last dimension of two in artifacts.
absl::Status AddResult(const data::TensorType& tensor, std::string_view name, Results& results) {
  const PJRT_Buffer_Type held = TypeOf(tensor.element);
  const std::optional<PJRT_Buffer_Type> named = name.empty() ? held : TypeNamed(name);
  std::vector<int64_t> global = DimsOf(tensor, tensor.global_dims), local = DimsOf(tensor, tensor.local_dims);
  if (named == PJRT_Buffer_Type_C128 && held == PJRT_Buffer_Type_F64 && !global.empty() && global.back() == 2) {
    global.pop_back();
    local.pop_back();
  } else if (named != held && !IsNarrowOf(named, held)) {
    return absl::UnimplementedError(absl::StrCat("result ", results.types.size(), " has element type ",
                                                 std::string(name), ", which compiled programs have as ",
                                                 static_cast<int>(held)));
  }
  results.types.push_back(*named);
  results.ranks.push_back(global.size());
  results.flat_dims.insert(results.flat_dims.end(), global.begin(), global.end());
  results.dims.push_back(std::move(global));
  results.local_dims.push_back(std::move(local));
  return absl::OkStatus();
}

// complex128 has a dimension more in artifacts.
size_t ParameterDims(const Compiled& compiled, size_t argument, const data::TensorType& type) {
  const bool is_complex =
      argument < compiled.argument_types.size() && compiled.argument_types[argument] == "complex<f64>";
  return DimsOf(type, type.global_dims).size() - (is_complex ? 1 : 0);
}

bool IsToken(const std::vector<std::string>& types, size_t index) {
  return index < types.size() && types[index] == "!stablehlo.token";
}

// By position among `types` the position among the `count` tensors of the compiled program, which has no tokens. All
// are tensors where types are not known.
absl::StatusOr<std::vector<std::optional<size_t>>> TensorsOf(const std::vector<std::string>& types, size_t count,
                                                             std::string_view what) {
  std::vector<std::optional<size_t>> tensors;
  size_t next = 0;
  for (size_t index = 0; index < (types.empty() ? count : types.size()); ++index)
    tensors.push_back(IsToken(types, index) ? std::nullopt : std::optional(next++));
  if (next == count) return tensors;
  return absl::InternalError(
      absl::StrCat("the compiled program has ", count, " ", std::string(what), " of ", next, "; please report it"));
}

std::string_view NameAt(const std::vector<std::string>& names, size_t index) {
  return index < names.size() ? std::string_view(names[index]) : std::string_view();
}

void AddToken(Results& results) {
  results.types.push_back(PJRT_Buffer_Type_TOKEN);
  results.ranks.push_back(0);
  results.dims.push_back({});
  results.local_dims.push_back({});
}

absl::Status DescribeResults(const Program& program, Executable& executable) {
  const Compiled& compiled = executable.compiled;
  auto outputs = TensorsOf(compiled.result_types, program.outputs().size(), "results");
  if (!outputs.ok()) return outputs.status();
  executable.outputs = *std::move(outputs);
  for (size_t result = 0; result < executable.outputs.size(); ++result) {
    absl::Status status;
    if (const std::optional<size_t> output = executable.outputs[result]) {
      const data::TensorType& type = program.outputs()[*output][0].type();
      status = AddResult(type, NameAt(compiled.result_types, result), executable.results);
      if (status.ok()) status = executable.output_shardings.Add(program.outputs()[*output]);
    } else {
      AddToken(executable.results);
      executable.output_shardings.AddReplicated();
    }
    if (status.ok()) status = executable.results.memories.Add(NameAt(compiled.result_memories, result));
    if (!status.ok()) return status;
    executable.output_layouts.Add(executable.results.dims.back().size());
  }
  executable.output_shardings.Finish();
  return absl::OkStatus();
}

absl::Status DescribeParameters(const Program& program, Executable& executable) {
  const Compiled& compiled = executable.compiled;
  auto inputs = TensorsOf(compiled.argument_types, program.inputs().size(), "arguments");
  if (!inputs.ok()) return inputs.status();
  executable.inputs = *std::move(inputs);
  for (size_t argument = 0; argument < executable.inputs.size(); ++argument) {
    size_t dims = 1;
    if (const std::optional<size_t> input = executable.inputs[argument]) {
      const std::vector<data::Shard>& shards = program.inputs()[*input];
      if (absl::Status status = executable.parameter_shardings.Add(shards); !status.ok()) return status;
      dims = ParameterDims(compiled, argument, shards[0].type());
    } else {
      executable.parameter_shardings.AddReplicated();
    }
    executable.parameter_layouts.Add(dims);
    absl::Status status = executable.parameter_memories.Add(NameAt(compiled.argument_memories, argument));
    if (!status.ok()) return status;
  }
  executable.parameter_shardings.Finish();
  executable.compiled.is_donated.resize(executable.inputs.size());
  return absl::OkStatus();
}

// A donated argument whose size no result has is not taken, as XLA does: its array can be used again.
void KeepUsableDonations(const Program& program, Executable& executable) {
  std::multiset<uint64_t> free_results;
  for (const std::vector<data::Shard>& shards : program.outputs()) free_results.insert(shards[0].local_bytes());
  for (size_t argument = 0; argument < executable.inputs.size(); ++argument) {
    if (!executable.compiled.is_donated[argument] || !executable.inputs[argument]) continue;
    const auto result = free_results.find(program.inputs()[*executable.inputs[argument]][0].local_bytes());
    if (result == free_results.end())
      executable.compiled.is_donated[argument] = false;
    else
      free_results.erase(result);
  }
}

absl::Status Describe(const Program& program, Executable& executable) {
  if (absl::Status status = DescribeResults(program, executable); !status.ok()) return status;
  if (absl::Status status = DescribeParameters(program, executable); !status.ok()) return status;
  KeepUsableDonations(program, executable);
  return absl::OkStatus();
}

absl::Status AddFingerprint(Executable& executable) {
  const std::string& bytes = executable.serialized;
  auto hash = artifact::Sha256({reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()});
  if (!hash.ok()) return hash.status();
  executable.fingerprint = artifact::HexHash(*hash);
  static constexpr std::string_view kFlops = "flops";
  PJRT_NamedValue flops = {};
  flops.struct_size = PJRT_NamedValue_STRUCT_SIZE;
  flops.name = kFlops.data();
  flops.name_size = kFlops.size();
  flops.type = PJRT_NamedValue_kFloat;
  flops.float_value = static_cast<float>(executable.compiled.text->metrics.flops);
  flops.value_size = 1;
  executable.costs = {flops};
  return absl::OkStatus();
}

// The devices of the partitions; the first ones unless the options name others.
absl::Status AssignDevices(PJRT_Client& client, const CompileOptions& options, PJRT_LoadedExecutable& loaded) {
  for (int64_t partition = 0; partition < options.partitions; ++partition) {
    const bool is_named = partition < static_cast<int64_t>(options.devices.size());
    const bool is_local = !is_named && options.partitions <= static_cast<int64_t>(client.addressable.size());
    const int64_t id = is_named   ? options.devices[partition]
                       : is_local ? client.addressable[partition]->description->id
                                  : partition;
    if (id < 0 || id >= static_cast<int64_t>(client.devices.size()))
      return absl::InvalidArgumentError(absl::StrCat("the program runs on device ", id, ", and there are ",
                                                     client.devices.size(), " devices; set SGD_NUM_DEVICES"));
    PJRT_Device* device = client.device_pointers[id];
    loaded.devices.push_back(device);
    if (!device->is_addressable) continue;
    loaded.addressable.push_back(device);
    loaded.logical_ids.push_back({0, static_cast<int>(partition)});
  }
  if (loaded.addressable.empty())
    return absl::InvalidArgumentError(absl::StrCat("the program runs on no device of this process, which is process ",
                                                   client.ranks->process(), "; load it where its devices are"));
  return absl::OkStatus();
}

DeviceList ListOf(const std::vector<PJRT_Device*>& devices) {
  DeviceList list;
  for (const PJRT_Device* device : devices) {
    list.ids.push_back(device->description->id);
    list.processes.push_back(static_cast<uint32_t>(device->description->process));
  }
  return list;
}

}  // namespace

void Layouts::Add(size_t dims) {
  layouts.push_back(std::make_unique<PJRT_Layouts_MemoryLayout>(RowMajorText(dims)));
  pointers.push_back(layouts.back().get());
}

absl::Status Shardings::Add(const std::vector<data::Shard>& shards) {
  absl::StatusOr<std::string> proto = OpShardingOf(shards);
  if (proto.ok()) protos.push_back(*std::move(proto));
  return proto.status();
}

void Shardings::AddReplicated() { protos.push_back(ReplicatedSharding()); }

absl::Status MemoryKinds::Add(std::string_view name) {
  absl::StatusOr<size_t> kind = MemoryKindNamed(name);
  if (!kind.ok()) return kind.status();
  kinds.push_back(*kind);
  names.push_back(kMemoryKinds[*kind].data());
  sizes.push_back(kMemoryKinds[*kind].size());
  return absl::OkStatus();
}

void Shardings::Finish() {
  for (const std::string& proto : protos) {
    pointers.push_back(proto.data());
    sizes.push_back(proto.size());
  }
}

absl::StatusOr<std::unique_ptr<PJRT_LoadedExecutable>> Load(PJRT_Client& client, Compiled compiled) {
  auto executable = std::make_shared<Executable>();
  absl::StatusOr<CompileOptions> options = ReadCompileOptions(compiled.options_proto);
  if (!options.ok()) return options.status();
  executable->options = *std::move(options);
  executable->compiled = std::move(compiled);
  executable->target = client.ranks->target().flag;
  auto loaded = std::make_unique<PJRT_LoadedExecutable>();
  loaded->client = &client;
  if (absl::Status status = AssignDevices(client, executable->options, *loaded); !status.ok()) return status;
  const std::lock_guard lock(client.ranks->mutex);
  auto program = Program::Open(client.ranks, executable->compiled.text->artifact, executable->compiled.name,
                               ListOf(loaded->devices));
  if (!program.ok()) return program.status();
  if (absl::Status status = Describe(**program, *executable); !status.ok()) return status;
  executable->serialized = Serialize(executable->compiled);
  if (absl::Status status = AddFingerprint(*executable); !status.ok()) return status;
  loaded->program = *std::move(program);
  loaded->executable = std::move(executable);
  return loaded;
}

absl::StatusOr<std::unique_ptr<PJRT_LoadedExecutable>> CompileAndLoad(PJRT_Client& client, const PJRT_Program& program,
                                                                      std::string_view options) {
  const std::string_view format(program.format, program.format_size);
  if (format != "mlir")
    return absl::UnimplementedError(
        absl::StrCat("programs of format '", std::string(format), "' are not supported; expected 'mlir'"));
  // Before the time that it takes to compile.
  if (absl::StatusOr<CompileOptions> read = ReadCompileOptions(options); !read.ok()) return read.status();
  absl::StatusOr<ProgramText> text = ReadProgramText({program.code, program.code_size});
  if (!text.ok()) return text.status();
  absl::StatusOr<std::shared_ptr<const CompiledText>> compiled =
      CompileText(text->text, text->name, client.ranks->target().flag);
  if (!compiled.ok()) return compiled.status();
  return Load(client, {std::move(text->name), std::string(options), std::move(text->argument_types),
                       std::move(text->result_types), std::move(text->is_donated), std::move(text->argument_memories),
                       std::move(text->result_memories), *std::move(compiled)});
}

}  // namespace sgd::pjrt
