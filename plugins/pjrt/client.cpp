// Plugin, client, devices, memories and topologies: names and numbers.
#include "plugins/pjrt/client.h"

#include <string_view>

#include "absl/strings/str_cat.h"
#include "plugins/pjrt/program_text.h"

PJRT_TopologyDescription::PJRT_TopologyDescription(const std::vector<uint32_t>& devices, const std::string& kind) {
  for (size_t process = 0; process < devices.size(); ++process) {
    for (uint32_t local = 0; local < devices[process]; ++local) {
      const auto id = static_cast<int>(descriptions.size());
      const std::string of_process = devices.size() > 1 ? absl::StrCat(", process=", process) : "";
      descriptions.push_back(std::make_unique<PJRT_DeviceDescription>(
          PJRT_DeviceDescription{id, static_cast<int>(process), static_cast<int>(local),
                                 absl::StrCat("SgdDevice(id=", id, of_process, ")"), kind}));
      pointers.push_back(descriptions.back().get());
    }
  }
}

PJRT_Client::PJRT_Client(const std::vector<uint32_t>& devices, std::shared_ptr<sgd::pjrt::RankPools> ranks)
    : topology(devices, ranks->target().kind), ranks(std::move(ranks)) {
  for (PJRT_DeviceDescription* description : topology.pointers) {
    this->devices.push_back(std::make_unique<PJRT_Device>());
    PJRT_Device& device = *this->devices.back();
    device.client = this;
    device.description = description;
    device.is_addressable = description->process == static_cast<int>(this->ranks->process());
    device_pointers.push_back(&device);
    for (size_t kind = 0; kind < sgd::pjrt::kMemoryKinds.size(); ++kind) {
      const size_t memory = description->id * sgd::pjrt::kMemoryKinds.size() + kind;
      device.memories[kind] = {
          &device, static_cast<int>(memory), kind,
          absl::StrCat("SgdMemory(id=", memory, ", kind=", std::string(sgd::pjrt::kMemoryKinds[kind]), ")")};
      device.memory_pointers[kind] = &device.memories[kind];
      if (device.is_addressable) memory_pointers.push_back(&device.memories[kind]);
    }
    if (device.is_addressable) addressable.push_back(&device);
  }
}

namespace sgd::pjrt {
namespace {

constexpr std::string_view kVersion = "sgd " SGD_VERSION;

absl::Status InitializePlugin(PJRT_Plugin_Initialize_Args&) { return absl::OkStatus(); }

// Attributes live as long as the process.
struct PluginAttributes {
  const std::vector<int64_t> version = StablehloVersion();
  std::vector<PJRT_NamedValue> values;

  PluginAttributes() {
    for (const std::string_view name : {"stablehlo_current_version", "stablehlo_minimum_version"}) {
      if (version.empty()) continue;
      PJRT_NamedValue value = {};
      value.struct_size = PJRT_NamedValue_STRUCT_SIZE;
      value.name = name.data();
      value.name_size = name.size();
      value.type = PJRT_NamedValue_kInt64List;
      value.int64_array_value = version.data();
      value.value_size = version.size();
      values.push_back(value);
    }
  }
};

absl::Status GetPluginAttributes(PJRT_Plugin_Attributes_Args& args) {
  static const PluginAttributes& attributes = *new PluginAttributes();
  args.attributes = attributes.values.data();
  args.num_attributes = attributes.values.size();
  return absl::OkStatus();
}

// Options as JAX names them, and as the Python package adds them.
ProcessClaim ClaimOf(const PJRT_Client_Create_Args& args, uint32_t devices) {
  ProcessClaim claim;
  claim.devices = devices;
  for (size_t i = 0; i < args.num_options; ++i) {
    const PJRT_NamedValue& option = args.create_options[i];
    const std::string_view name(option.name, option.name_size);
    const bool is_integer = option.type == PJRT_NamedValue_kInt64;
    if (is_integer && name == "node_id") claim.index = static_cast<uint32_t>(option.int64_value);
    if (is_integer && name == "num_nodes") claim.count = static_cast<uint32_t>(option.int64_value);
    if (option.type == PJRT_NamedValue_kString && name == "coordinator")
      claim.coordinator.assign(option.string_value, option.value_size);
  }
  return claim;
}

absl::Status CreateClient(PJRT_Client_Create_Args& args) {
  absl::StatusOr<Target> target = ReadTarget();
  if (!target.ok()) return target.status();
  absl::StatusOr<absl::Duration> deadline = DeadlineOfProcesses();
  if (!deadline.ok()) return deadline.status();
  const ProcessClaim claim = ClaimOf(args, target->devices);
  std::shared_ptr<const Processes> processes;
  if (claim.count > 1) {
    if (!target->is_host_memory())
      return absl::UnimplementedError(
          "SGD_TARGET asks for GPUs, which several processes (jax.distributed) cannot have; "
          "expected one process; leave jax.distributed out, or set SGD_TARGET=cpu");
    absl::StatusOr<std::unique_ptr<Processes>> met = Processes::Meet(claim, KeyValueStore(args));
    if (!met.ok()) return met.status();
    processes = *std::move(met);
  }
  const std::vector<uint32_t> by_process = processes == nullptr ? std::vector{target->devices} : processes->devices();
  args.client = new PJRT_Client(by_process, std::make_shared<RankPools>(*target, processes, *deadline));
  return absl::OkStatus();
}

absl::Status DestroyClient(PJRT_Client_Destroy_Args& args) {
  delete args.client;
  return absl::OkStatus();
}

absl::Status GetPlatformName(PJRT_Client_PlatformName_Args& args) {
  args.platform_name = kPlatform.data();
  args.platform_name_size = kPlatform.size();
  return absl::OkStatus();
}

absl::Status GetProcessIndex(PJRT_Client_ProcessIndex_Args& args) {
  args.process_index = static_cast<int>(args.client->ranks->process());
  return absl::OkStatus();
}

absl::Status GetPlatformVersion(PJRT_Client_PlatformVersion_Args& args) {
  args.platform_version = kVersion.data();
  args.platform_version_size = kVersion.size();
  return absl::OkStatus();
}

absl::Status GetTopology(PJRT_Client_TopologyDescription_Args& args) {
  args.topology = &args.client->topology;
  return absl::OkStatus();
}

absl::Status GetClientDevices(PJRT_Client_Devices_Args& args) {
  args.devices = args.client->device_pointers.data();
  args.num_devices = args.client->device_pointers.size();
  return absl::OkStatus();
}

absl::Status GetAddressableDevices(PJRT_Client_AddressableDevices_Args& args) {
  args.addressable_devices = args.client->addressable.data();
  args.num_addressable_devices = args.client->addressable.size();
  return absl::OkStatus();
}

absl::StatusOr<PJRT_Device*> Lookup(const std::vector<PJRT_Device*>& devices, int id) {
  if (id < 0 || static_cast<size_t>(id) >= devices.size())
    return absl::InvalidArgumentError(
        absl::StrCat("there is no device ", id, " among ", devices.size(), "; set SGD_NUM_DEVICES"));
  return devices[id];
}

absl::Status LookupDevice(PJRT_Client_LookupDevice_Args& args) {
  absl::StatusOr<PJRT_Device*> device = Lookup(args.client->device_pointers, args.id);
  if (device.ok()) args.device = *device;
  return device.status();
}

absl::Status LookupAddressableDevice(PJRT_Client_LookupAddressableDevice_Args& args) {
  absl::StatusOr<PJRT_Device*> device = Lookup(args.client->addressable, args.local_hardware_id);
  if (device.ok()) args.addressable_device = *device;
  return device.status();
}

absl::Status GetMemories(PJRT_Client_AddressableMemories_Args& args) {
  args.addressable_memories = args.client->memory_pointers.data();
  args.num_addressable_memories = args.client->memory_pointers.size();
  return absl::OkStatus();
}

// Which processes JAX's coordinator still sees: those that run a program here notice by themselves when one is gone.
absl::Status UpdateProcesses(PJRT_Client_UpdateGlobalProcessInfo_Args&) { return absl::OkStatus(); }

// Partition p of every replica is on device p, of those of this process where there are enough.
absl::Status GetDefaultAssignment(PJRT_Client_DefaultDeviceAssignment_Args& args) {
  const int count = args.num_replicas * args.num_partitions;
  if (args.num_replicas < 1 || args.num_partitions < 1 || static_cast<size_t>(count) > args.client->devices.size() ||
      args.default_assignment_size < static_cast<size_t>(count))
    return absl::InvalidArgumentError(absl::StrCat("a program of ", args.num_replicas, " replicas and ",
                                                   args.num_partitions, " partitions needs more than the ",
                                                   args.client->devices.size(), " devices; set SGD_NUM_DEVICES"));
  const PJRT_Client& client = *args.client;
  const auto& devices =
      static_cast<size_t>(count) <= client.addressable.size() ? client.addressable : client.device_pointers;
  for (int index = 0; index < count; ++index) args.default_assignment[index] = devices[index]->description->id;
  return absl::OkStatus();
}

absl::Status GetId(PJRT_DeviceDescription_Id_Args& args) {
  args.id = args.device_description->id;
  return absl::OkStatus();
}

absl::Status GetProcess(PJRT_DeviceDescription_ProcessIndex_Args& args) {
  args.process_index = args.device_description->process;
  return absl::OkStatus();
}

absl::Status GetAttributes(PJRT_DeviceDescription_Attributes_Args& args) {
  args.attributes = nullptr;
  args.num_attributes = 0;
  return absl::OkStatus();
}

absl::Status GetKind(PJRT_DeviceDescription_Kind_Args& args) {
  args.device_kind = args.device_description->kind.data();
  args.device_kind_size = args.device_description->kind.size();
  return absl::OkStatus();
}

absl::Status GetDebugString(PJRT_DeviceDescription_DebugString_Args& args) {
  args.debug_string = args.device_description->text.data();
  args.debug_string_size = args.device_description->text.size();
  return absl::OkStatus();
}

absl::Status GetText(PJRT_DeviceDescription_ToString_Args& args) {
  args.to_string = args.device_description->text.data();
  args.to_string_size = args.device_description->text.size();
  return absl::OkStatus();
}

absl::Status GetDescription(PJRT_Device_GetDescription_Args& args) {
  args.device_description = args.device->description;
  return absl::OkStatus();
}

absl::Status IsAddressable(PJRT_Device_IsAddressable_Args& args) {
  args.is_addressable = args.device->is_addressable;
  return absl::OkStatus();
}

absl::Status GetHardwareId(PJRT_Device_LocalHardwareId_Args& args) {
  args.local_hardware_id = args.device->is_addressable ? args.device->description->local_id : -1;
  return absl::OkStatus();
}

absl::Status GetMemoriesOfDevice(PJRT_Device_AddressableMemories_Args& args) {
  args.memories = args.device->memory_pointers.data();
  args.num_memories = args.device->is_addressable ? args.device->memory_pointers.size() : 0;
  return absl::OkStatus();
}

absl::Status GetDefaultMemory(PJRT_Device_DefaultMemory_Args& args) {
  if (absl::Status status = CheckAddressable(*args.device); !status.ok()) return status;
  args.memory = args.device->memory_pointers[0];
  return absl::OkStatus();
}

absl::Status GetAttributesOfDevice(PJRT_Device_GetAttributes_Args& args) {
  args.attributes = nullptr;
  args.num_attributes = 0;
  args.device_attributes = nullptr;
  args.attributes_deleter = [](PJRT_Device_Attributes*) {};
  return absl::OkStatus();
}

absl::Status GetMemoryId(PJRT_Memory_Id_Args& args) {
  args.id = args.memory->id;
  return absl::OkStatus();
}

absl::Status GetMemoryKind(PJRT_Memory_Kind_Args& args) {
  args.kind = kMemoryKinds[args.memory->kind].data();
  args.kind_size = kMemoryKinds[args.memory->kind].size();
  return absl::OkStatus();
}

absl::Status GetMemoryKindId(PJRT_Memory_Kind_Id_Args& args) {
  args.kind_id = static_cast<int>(args.memory->kind);
  return absl::OkStatus();
}

absl::Status GetMemoryDebugString(PJRT_Memory_DebugString_Args& args) {
  args.debug_string = args.memory->text.data();
  args.debug_string_size = args.memory->text.size();
  return absl::OkStatus();
}

absl::Status GetMemoryText(PJRT_Memory_ToString_Args& args) {
  args.to_string = args.memory->text.data();
  args.to_string_size = args.memory->text.size();
  return absl::OkStatus();
}

absl::Status GetDevicesOfMemory(PJRT_Memory_AddressableByDevices_Args& args) {
  args.devices = &args.memory->device->self;
  args.num_devices = 1;
  return absl::OkStatus();
}

absl::Status CreateTopology(PJRT_TopologyDescription_Create_Args& args) {
  absl::StatusOr<Target> target = ReadTarget();
  if (!target.ok()) return target.status();
  args.topology = new PJRT_TopologyDescription({target->devices}, target->kind);
  return absl::OkStatus();
}

absl::Status DestroyTopology(PJRT_TopologyDescription_Destroy_Args& args) {
  delete args.topology;
  return absl::OkStatus();
}

absl::Status GetTopologyPlatform(PJRT_TopologyDescription_PlatformName_Args& args) {
  args.platform_name = kPlatform.data();
  args.platform_name_size = kPlatform.size();
  return absl::OkStatus();
}

absl::Status GetTopologyVersion(PJRT_TopologyDescription_PlatformVersion_Args& args) {
  args.platform_version = kVersion.data();
  args.platform_version_size = kVersion.size();
  return absl::OkStatus();
}

absl::Status GetDescriptions(PJRT_TopologyDescription_GetDeviceDescriptions_Args& args) {
  args.descriptions = args.topology->pointers.data();
  args.num_descriptions = args.topology->pointers.size();
  return absl::OkStatus();
}

absl::Status GetTopologyAttributes(PJRT_TopologyDescription_Attributes_Args& args) {
  args.attributes = nullptr;
  args.num_attributes = 0;
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckAddressable(const PJRT_Device& device) {
  if (device.is_addressable) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("device ", device.description->id, " belongs to process ",
                                                 device.description->process, ", and this is process ",
                                                 device.client->ranks->process(), "; use a device of this process"));
}

absl::StatusOr<size_t> MemoryKindNamed(std::string_view name) {
  if (name.empty()) return 0;
  for (size_t kind = 0; kind < kMemoryKinds.size(); ++kind) {
    if (kMemoryKinds[kind] == name) return kind;
  }
  return absl::InvalidArgumentError(absl::StrCat("there is no memory of kind '", std::string(name),
                                                 "'; expected device, pinned_host or unpinned_host"));
}

void AddClientEntries(PJRT_Api& api) {
  api.PJRT_Plugin_Initialize = Entry<InitializePlugin>::Call;
  api.PJRT_Plugin_Attributes = Entry<GetPluginAttributes>::Call;
  api.PJRT_Client_Create = Entry<CreateClient>::Call;
  api.PJRT_Client_Destroy = Entry<DestroyClient>::Call;
  api.PJRT_Client_PlatformName = Entry<GetPlatformName>::Call;
  api.PJRT_Client_ProcessIndex = Entry<GetProcessIndex>::Call;
  api.PJRT_Client_PlatformVersion = Entry<GetPlatformVersion>::Call;
  api.PJRT_Client_TopologyDescription = Entry<GetTopology>::Call;
  api.PJRT_Client_Devices = Entry<GetClientDevices>::Call;
  api.PJRT_Client_AddressableDevices = Entry<GetAddressableDevices>::Call;
  api.PJRT_Client_LookupDevice = Entry<LookupDevice>::Call;
  api.PJRT_Client_LookupAddressableDevice = Entry<LookupAddressableDevice>::Call;
  api.PJRT_Client_AddressableMemories = Entry<GetMemories>::Call;
  api.PJRT_Client_UpdateGlobalProcessInfo = Entry<UpdateProcesses>::Call;
  api.PJRT_Client_DefaultDeviceAssignment = Entry<GetDefaultAssignment>::Call;
  api.PJRT_DeviceDescription_Id = Entry<GetId>::Call;
  api.PJRT_DeviceDescription_ProcessIndex = Entry<GetProcess>::Call;
  api.PJRT_DeviceDescription_Attributes = Entry<GetAttributes>::Call;
  api.PJRT_DeviceDescription_Kind = Entry<GetKind>::Call;
  api.PJRT_DeviceDescription_DebugString = Entry<GetDebugString>::Call;
  api.PJRT_DeviceDescription_ToString = Entry<GetText>::Call;
  api.PJRT_Device_GetDescription = Entry<GetDescription>::Call;
  api.PJRT_Device_IsAddressable = Entry<IsAddressable>::Call;
  api.PJRT_Device_LocalHardwareId = Entry<GetHardwareId>::Call;
  api.PJRT_Device_AddressableMemories = Entry<GetMemoriesOfDevice>::Call;
  api.PJRT_Device_DefaultMemory = Entry<GetDefaultMemory>::Call;
  api.PJRT_Device_GetAttributes = Entry<GetAttributesOfDevice>::Call;
  api.PJRT_Memory_Id = Entry<GetMemoryId>::Call;
  api.PJRT_Memory_Kind = Entry<GetMemoryKind>::Call;
  api.PJRT_Memory_Kind_Id = Entry<GetMemoryKindId>::Call;
  api.PJRT_Memory_DebugString = Entry<GetMemoryDebugString>::Call;
  api.PJRT_Memory_ToString = Entry<GetMemoryText>::Call;
  api.PJRT_Memory_AddressableByDevices = Entry<GetDevicesOfMemory>::Call;
  api.PJRT_TopologyDescription_Create = Entry<CreateTopology>::Call;
  api.PJRT_TopologyDescription_Destroy = Entry<DestroyTopology>::Call;
  api.PJRT_TopologyDescription_PlatformName = Entry<GetTopologyPlatform>::Call;
  api.PJRT_TopologyDescription_PlatformVersion = Entry<GetTopologyVersion>::Call;
  api.PJRT_TopologyDescription_GetDeviceDescriptions = Entry<GetDescriptions>::Call;
  api.PJRT_TopologyDescription_Attributes = Entry<GetTopologyAttributes>::Call;
}

}  // namespace sgd::pjrt
