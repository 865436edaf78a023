// Field numbers are those of xla/pjrt/proto/compile_options.proto and xla/xla_data.proto.
#include "plugins/pjrt/compile_options.h"

#include "absl/strings/str_cat.h"
#include "plugins/pjrt/wire.h"
#include "plugins/pjrt/xla_options.h"

namespace sgd::pjrt {
namespace {

constexpr uint32_t kBuildOptions = 3, kPortable = 4, kOverrides = 7;                   // CompileOptionsProto
constexpr uint32_t kReplicas = 4, kPartitions = 5, kAssignment = 9;                    // ExecutableBuildOptionsProto
constexpr uint32_t kReplicaCount = 1, kComputationCount = 2, kComputationDevices = 3;  // DeviceAssignmentProto
constexpr uint32_t kDeviceIds = 1;                                                     // ComputationDevice

absl::Status ReadAssignment(std::string_view proto, std::vector<int64_t>& devices) {
  return ReadWire(proto, [&](const WireField& field) {
    if (field.number != kComputationDevices) return absl::OkStatus();
    return ReadWire(field.bytes, [&](const WireField& ids) {
      if (ids.number != kDeviceIds) return absl::OkStatus();
      return ReadIntegers(ids, [&](uint64_t id) {
        devices.push_back(static_cast<int64_t>(id));
        return absl::OkStatus();
      });
    });
  });
}

absl::Status ReadBuildOptions(std::string_view proto, CompileOptions& options) {
  return ReadWire(proto, [&](const WireField& field) {
    if (field.number == kReplicas && field.integer != 0) options.replicas = static_cast<int64_t>(field.integer);
    if (field.number == kPartitions && field.integer != 0) options.partitions = static_cast<int64_t>(field.integer);
    return field.number == kAssignment ? ReadAssignment(field.bytes, options.devices) : absl::OkStatus();
  });
}

}  // namespace

absl::StatusOr<CompileOptions> ReadCompileOptions(std::string_view proto) {
  CompileOptions options;
  absl::Status status = ReadWire(proto, [&](const WireField& field) {
    if (field.number == kOverrides) return CheckXlaOption(field.bytes);
    if (field.number == kPortable) options.is_portable = field.integer != 0;
    return field.number == kBuildOptions ? ReadBuildOptions(field.bytes, options) : absl::OkStatus();
  });
  if (!status.ok()) return status;
  if (options.replicas != 1)
    return absl::UnimplementedError(
        absl::StrCat("the program has ", options.replicas,
                     " replicas; expected 1; use partitions, as jax.jit and jax.shard_map do"));
  if (!options.devices.empty() && options.devices.size() != static_cast<size_t>(options.partitions))
    return absl::InvalidArgumentError(absl::StrCat("the device assignment has ", options.devices.size(),
                                                   " devices for ", options.partitions, " partitions"));
  return options;
}

std::string WriteDeviceAssignment(const std::vector<int64_t>& devices) {
  std::string proto;
  WriteInteger(proto, kReplicaCount, 1);
  WriteInteger(proto, kComputationCount, devices.size());
  for (const int64_t device : devices) {
    std::string ids;
    WritePacked(ids, kDeviceIds, {&device, 1});
    WriteBytes(proto, kComputationDevices, ids);
  }
  return proto;
}

}  // namespace sgd::pjrt
