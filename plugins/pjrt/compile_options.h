// The fields of xla.CompileOptionsProto that matter here.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace sgd::pjrt {

struct CompileOptions {
  int64_t replicas = 1;
  int64_t partitions = 1;
  // The device of each partition; empty: devices 0, 1, ...
  std::vector<int64_t> devices;
  // The program runs on the device of each execution.
  bool is_portable = false;
};

// InvalidArgument for what is no such message and for options that XLA does not have, Unimplemented for several
// replicas.
absl::StatusOr<CompileOptions> ReadCompileOptions(std::string_view proto);

// A serialized xla.DeviceAssignmentProto of one replica.
std::string WriteDeviceAssignment(const std::vector<int64_t>& devices);

}  // namespace sgd::pjrt
