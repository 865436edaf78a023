// Entries of the API by which frameworks ask about executables.
#include <utility>

#include "absl/strings/str_cat.h"
#include "plugins/pjrt/event.h"
#include "plugins/pjrt/executable.h"

namespace sgd::pjrt {
namespace {

absl::Status CompileProgram(PJRT_Client_Compile_Args& args) {
  auto loaded = CompileAndLoad(*args.client, *args.program, {args.compile_options, args.compile_options_size});
  if (loaded.ok()) args.executable = loaded->release();
  return loaded.status();
}

absl::Status DestroyExecutable(PJRT_Executable_Destroy_Args& args) {
  delete args.executable;
  return absl::OkStatus();
}

absl::Status DestroyLoadedExecutable(PJRT_LoadedExecutable_Destroy_Args& args) {
  delete args.executable;
  return absl::OkStatus();
}

absl::Status DeleteLoaded(PJRT_LoadedExecutable_Delete_Args& args) {
  const std::lock_guard lock(args.executable->client->ranks->mutex);
  args.executable->program = nullptr;
  return absl::OkStatus();
}

absl::Status IsLoadedDeleted(PJRT_LoadedExecutable_IsDeleted_Args& args) {
  const std::lock_guard lock(args.executable->client->ranks->mutex);
  args.is_deleted = args.executable->program == nullptr;
  return absl::OkStatus();
}

absl::Status GetExecutable(PJRT_LoadedExecutable_GetExecutable_Args& args) {
  args.executable = new PJRT_Executable{args.loaded_executable->executable};
  return absl::OkStatus();
}

absl::Status GetName(PJRT_Executable_Name_Args& args) {
  const std::string& name = args.executable->executable->compiled.name;
  args.executable_name = name.data();
  args.executable_name_size = name.size();
  return absl::OkStatus();
}

absl::Status GetReplicas(PJRT_Executable_NumReplicas_Args& args) {
  args.num_replicas = 1;
  return absl::OkStatus();
}

absl::Status GetPartitions(PJRT_Executable_NumPartitions_Args& args) {
  args.num_partitions = static_cast<size_t>(args.executable->executable->options.partitions);
  return absl::OkStatus();
}

absl::Status GetNumberOfOutputs(PJRT_Executable_NumOutputs_Args& args) {
  args.num_outputs = args.executable->executable->results.types.size();
  return absl::OkStatus();
}

absl::Status GetCodeSize(PJRT_Executable_SizeOfGeneratedCodeInBytes_Args& args) {
  args.size_in_bytes = static_cast<int64_t>(args.executable->executable->compiled.text->artifact.size());
  return absl::OkStatus();
}

absl::Status GetFingerprint(PJRT_Executable_Fingerprint_Args& args) {
  args.executable_fingerprint = args.executable->executable->fingerprint.data();
  args.executable_fingerprint_size = args.executable->executable->fingerprint.size();
  return absl::OkStatus();
}

absl::Status GetLoadedFingerprint(PJRT_LoadedExecutable_Fingerprint_Args& args) {
  args.executable_fingerprint = args.executable->executable->fingerprint.data();
  args.executable_fingerprint_size = args.executable->executable->fingerprint.size();
  return absl::OkStatus();
}

absl::Status GetCosts(PJRT_Executable_GetCostAnalysis_Args& args) {
  args.properties = args.executable->executable->costs.data();
  args.num_properties = args.executable->executable->costs.size();
  return absl::OkStatus();
}

absl::Status GetMemoryStats(PJRT_Executable_GetCompiledMemoryStats_Args& args) {
  const CompiledText& text = *args.executable->executable->compiled.text;
  args.generated_code_size_in_bytes = static_cast<int64_t>(text.artifact.size());
  args.argument_size_in_bytes = static_cast<int64_t>(text.metrics.arguments);
  args.output_size_in_bytes = static_cast<int64_t>(text.metrics.outputs);
  args.alias_size_in_bytes = static_cast<int64_t>(text.metrics.aliased);
  args.temp_size_in_bytes = static_cast<int64_t>(text.metrics.temporaries);
  args.host_generated_code_size_in_bytes = 0;
  args.host_argument_size_in_bytes = 0;
  args.host_output_size_in_bytes = 0;
  args.host_alias_size_in_bytes = 0;
  args.host_temp_size_in_bytes = 0;
  args.peak_memory_in_bytes = static_cast<int64_t>(text.metrics.peak);
  args.total_size_in_bytes = static_cast<int64_t>(text.metrics.peak);
  args.total_allocation_bytes = static_cast<int64_t>(text.metrics.peak);
  args.indefinite_allocations = 0;
  args.peak_unpadded_heap_bytes = static_cast<int64_t>(text.metrics.peak);
  return absl::OkStatus();
}

// Called twice: for the size, then for the text. jaxlib makes HLO of it.
absl::Status GetOptimizedProgram(PJRT_Executable_OptimizedProgram_Args& args) {
  static constexpr std::string_view kFormat = "mlir";
  const Executable& executable = *args.executable->executable;
  const std::lock_guard lock(executable.partitioned.mutex);
  std::optional<std::string>& text = executable.partitioned.text;
  if (!text) {
    auto made = PartitionText(executable.compiled.text->text, executable.compiled.name, executable.target);
    if (!made.ok()) return made.status();
    text = *std::move(made);
  }
  args.program->format = kFormat.data();
  args.program->format_size = kFormat.size();
  args.program->code_size = text->size();
  if (args.program->code != nullptr) text->copy(args.program->code, text->size());
  return absl::OkStatus();
}

absl::Status GetOutputTypes(PJRT_Executable_OutputElementTypes_Args& args) {
  const Results& results = args.executable->executable->results;
  args.output_types = const_cast<PJRT_Buffer_Type*>(results.types.data());
  args.num_output_types = results.types.size();
  return absl::OkStatus();
}

absl::Status GetOutputDims(PJRT_Executable_OutputDimensions_Args& args) {
  const Results& results = args.executable->executable->results;
  args.num_outputs = results.types.size();
  args.dims = results.flat_dims.data();
  args.dim_sizes = results.ranks.data();
  return absl::OkStatus();
}

absl::Status GetOutputMemories(PJRT_Executable_OutputMemoryKinds_Args& args) {
  const Results& results = args.executable->executable->results;
  args.num_outputs = results.types.size();
  args.memory_kinds = results.memories.names.data();
  args.memory_kind_sizes = results.memories.sizes.data();
  return absl::OkStatus();
}

absl::Status GetParameterMemories(PJRT_Executable_ParameterMemoryKinds_Args& args) {
  const Executable& executable = *args.executable->executable;
  args.num_parameters = executable.parameters();
  args.memory_kinds = executable.parameter_memories.names.data();
  args.memory_kind_sizes = executable.parameter_memories.sizes.data();
  return absl::OkStatus();
}

absl::Status GetLoadedDevices(PJRT_LoadedExecutable_AddressableDevices_Args& args) {
  args.addressable_devices = args.executable->addressable.data();
  args.num_addressable_devices = args.executable->addressable.size();
  return absl::OkStatus();
}

absl::Status GetLogicalIds(PJRT_LoadedExecutable_AddressableDeviceLogicalIds_Args& args) {
  args.addressable_device_logical_ids = args.executable->logical_ids.data();
  args.num_addressable_device_logical_ids = args.executable->logical_ids.size();
  return absl::OkStatus();
}

}  // namespace
}  // namespace sgd::pjrt

struct PJRT_SerializedExecutable {
  std::shared_ptr<const sgd::pjrt::Executable> executable;
};
struct PJRT_SerializedCompileOptions {
  std::shared_ptr<const sgd::pjrt::Executable> executable;
};
struct PJRT_DeviceAssignmentSerialized {
  std::string proto;
};

namespace sgd::pjrt {
namespace {

absl::Status SerializeExecutable(PJRT_Executable_Serialize_Args& args) {
  args.serialized_executable = new PJRT_SerializedExecutable{args.executable->executable};
  args.serialized_executable_deleter = [](PJRT_SerializedExecutable* serialized) { delete serialized; };
  args.serialized_bytes = args.executable->executable->serialized.data();
  args.serialized_bytes_size = args.executable->executable->serialized.size();
  return absl::OkStatus();
}

absl::Status GetOptions(PJRT_Executable_GetCompileOptions_Args& args) {
  args.serialized_compile_options = new PJRT_SerializedCompileOptions{args.executable->executable};
  args.serialized_compile_options_deleter = [](PJRT_SerializedCompileOptions* options) { delete options; };
  args.serialized_bytes = args.executable->executable->compiled.options_proto.data();
  args.serialized_bytes_size = args.executable->executable->compiled.options_proto.size();
  return absl::OkStatus();
}

absl::Status GetAssignment(PJRT_LoadedExecutable_GetDeviceAssignment_Args& args) {
  std::vector<int64_t> devices;
  for (const PJRT_Device* device : args.executable->devices) devices.push_back(device->description->id);
  args.serialized_device_assignment = new PJRT_DeviceAssignmentSerialized{WriteDeviceAssignment(devices)};
  args.serialized_device_assignment_deleter = [](PJRT_DeviceAssignmentSerialized* assignment) { delete assignment; };
  args.serialized_bytes = args.serialized_device_assignment->proto.data();
  args.serialized_bytes_size = args.serialized_device_assignment->proto.size();
  return absl::OkStatus();
}

absl::Status DeserializeExecutable(PJRT_Executable_DeserializeAndLoad_Args& args) {
  absl::StatusOr<Compiled> compiled = Deserialize({args.serialized_executable, args.serialized_executable_size});
  if (!compiled.ok()) return compiled.status();
  if (args.overridden_serialized_compile_options != nullptr && args.overridden_serialized_compile_options_size > 0)
    compiled->options_proto.assign(args.overridden_serialized_compile_options,
                                   args.overridden_serialized_compile_options_size);
  auto loaded = Load(*args.client, *std::move(compiled));
  if (loaded.ok()) args.loaded_executable = loaded->release();
  return loaded.status();
}

absl::Status LoadExecutable(PJRT_Client_Load_Args& args) {
  Compiled compiled = args.executable->executable->compiled;
  if (args.compile_options != nullptr && args.compile_options_size > 0)
    compiled.options_proto.assign(args.compile_options, args.compile_options_size);
  auto loaded = Load(*args.client, std::move(compiled));
  if (loaded.ok()) args.loaded_executable = loaded->release();
  return loaded.status();
}

}  // namespace

void AddExecutableEntries(PJRT_Api& api) {
  api.PJRT_Client_Compile = Entry<CompileProgram>::Call;
  api.PJRT_Client_Load = Entry<LoadExecutable>::Call;
  api.PJRT_Executable_Destroy = Entry<DestroyExecutable>::Call;
  api.PJRT_Executable_Name = Entry<GetName>::Call;
  api.PJRT_Executable_NumReplicas = Entry<GetReplicas>::Call;
  api.PJRT_Executable_NumPartitions = Entry<GetPartitions>::Call;
  api.PJRT_Executable_NumOutputs = Entry<GetNumberOfOutputs>::Call;
  api.PJRT_Executable_SizeOfGeneratedCodeInBytes = Entry<GetCodeSize>::Call;
  api.PJRT_Executable_GetCostAnalysis = Entry<GetCosts>::Call;
  api.PJRT_Executable_GetCompiledMemoryStats = Entry<GetMemoryStats>::Call;
  api.PJRT_Executable_OptimizedProgram = Entry<GetOptimizedProgram>::Call;
  api.PJRT_Executable_OutputElementTypes = Entry<GetOutputTypes>::Call;
  api.PJRT_Executable_OutputDimensions = Entry<GetOutputDims>::Call;
  api.PJRT_Executable_OutputMemoryKinds = Entry<GetOutputMemories>::Call;
  api.PJRT_Executable_ParameterMemoryKinds = Entry<GetParameterMemories>::Call;
  api.PJRT_Executable_Serialize = Entry<SerializeExecutable>::Call;
  api.PJRT_Executable_DeserializeAndLoad = Entry<DeserializeExecutable>::Call;
  api.PJRT_Executable_Fingerprint = Entry<GetFingerprint>::Call;
  api.PJRT_Executable_GetCompileOptions = Entry<GetOptions>::Call;
  api.PJRT_LoadedExecutable_Destroy = Entry<DestroyLoadedExecutable>::Call;
  api.PJRT_LoadedExecutable_GetExecutable = Entry<GetExecutable>::Call;
  api.PJRT_LoadedExecutable_GetDeviceAssignment = Entry<GetAssignment>::Call;
  api.PJRT_LoadedExecutable_AddressableDevices = Entry<GetLoadedDevices>::Call;
  api.PJRT_LoadedExecutable_AddressableDeviceLogicalIds = Entry<GetLogicalIds>::Call;
  api.PJRT_LoadedExecutable_Delete = Entry<DeleteLoaded>::Call;
  api.PJRT_LoadedExecutable_IsDeleted = Entry<IsLoadedDeleted>::Call;
  api.PJRT_LoadedExecutable_Execute = Entry<Execute>::Call;
  api.PJRT_LoadedExecutable_Fingerprint = Entry<GetLoadedFingerprint>::Call;
}

}  // namespace sgd::pjrt
