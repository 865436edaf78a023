// The kind of devices that JAX sees: ranks on this process's cores, or its GPUs.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"

namespace sgd::pjrt {

struct Target {
  std::string name = "cpu";  // Artifact.target
  std::string flag = "cpu";  // of sgdc's --target
  std::string kind = "cpu";  // JAX's device_kind
  uint32_t devices = 1;

  // Whether the host reads and writes the devices' memory by address.
  bool is_host_memory() const { return name == "cpu"; }
};

// Reads SGD_TARGET ("cpu", "cuda", or "cuda:" and architectures as of --target) and SGD_NUM_DEVICES: by default one CPU
// device, or all GPUs that the driver shows. InvalidArgument for other values; FailedPrecondition where there is no
// driver, no GPU, or not that many.
absl::StatusOr<Target> ReadTarget();

}  // namespace sgd::pjrt
