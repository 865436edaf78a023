// Properties of a GPU by the driver and the system, before a rank uses it.
#pragma once

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/device/topology.h"
#include "targets/gpu/device/driver/driver.h"

namespace sgd::cuda {

struct GpuInfo {
  int capability = 0;  // sm_90: 90
  device::Accelerator accelerator;
};

// `ordinal`: among the GPUs that the driver shows. `system` is the folder of the system's files of devices.
absl::StatusOr<GpuInfo> DescribeGpu(const Driver& driver, int ordinal, const std::string& system = "/sys");

// All GPUs that the driver shows, and their links.
absl::StatusOr<device::Topology> DescribeGpus(const Driver& driver);

// An error of a call that wanted to use the GPU, with what to do about it where its mode or state is to blame.
absl::Status ExplainGpuError(const Driver& driver, CUresult result, CUdevice device, const std::string& what);

}  // namespace sgd::cuda
