// Attributes of the driver, and the PCI device's files.
#include "targets/gpu/device/driver/gpu_info.h"

#include <algorithm>
#include <fstream>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace sgd::cuda {
namespace {

absl::StatusOr<int> Attribute(const Driver& driver, CUdevice_attribute attribute, CUdevice device) {
  int value = 0;
  absl::Status status = driver.Check(driver.cuDeviceGetAttribute(&value, attribute, device), "cuDeviceGetAttribute");
  if (!status.ok()) return status;
  return value;
}

// The first line of a file; empty where there is none.
std::string LineOf(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

// Of a virtual machine the system often does not know; then it says -1, or all cores.
void AddPlace(const std::string& system, device::Accelerator& accelerator) {
  const std::string folder = absl::StrCat(system, "/bus/pci/devices/", accelerator.bus_id);
  if (!absl::SimpleAtoi(LineOf(folder + "/numa_node"), &accelerator.memory_node)) accelerator.memory_node = -1;
  accelerator.near_cores = LineOf(folder + "/local_cpulist");
}

std::string ComputeModeProblem(int mode) {
  if (mode == CU_COMPUTEMODE_PROHIBITED)
    return "its compute mode is 'prohibited': allow its use with nvidia-smi -c DEFAULT";
  return "";
}

void AddProblems(const Driver& driver, CUdevice device, device::Accelerator& accelerator) {
  const absl::StatusOr<int> mode = Attribute(driver, CU_DEVICE_ATTRIBUTE_COMPUTE_MODE, device);
  const absl::StatusOr<int> ecc = Attribute(driver, CU_DEVICE_ATTRIBUTE_ECC_ENABLED, device);
  if (mode.ok() && !ComputeModeProblem(*mode).empty()) accelerator.problems.push_back(ComputeModeProblem(*mode));
  if (mode.ok() && *mode == CU_COMPUTEMODE_EXCLUSIVE_PROCESS)
    accelerator.problems.push_back("its compute mode is 'exclusive process': ranks cannot share it");
  if (ecc.ok() && *ecc == 0) accelerator.problems.push_back("error correction of its memory is off");
  if (absl::StrContains(accelerator.name, " MIG "))
    accelerator.problems.push_back("it is a part of a GPU (MIG): ranks on such parts cannot reach each other directly");
}

}  // namespace

absl::StatusOr<GpuInfo> DescribeGpu(const Driver& driver, int ordinal, const std::string& system) {
  CUdevice device = 0;
  absl::Status status = driver.Check(driver.cuDeviceGet(&device, ordinal), absl::StrCat("GPU ", ordinal));
  if (!status.ok()) return status;
  const absl::StatusOr<int> major = Attribute(driver, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device);
  const absl::StatusOr<int> minor = Attribute(driver, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device);
  for (const auto& number : {major, minor}) {
    if (!number.ok()) return number.status();
  }
  GpuInfo info;
  info.capability = *major * 10 + *minor;
  device::Accelerator& accelerator = info.accelerator;
  accelerator.architecture = absl::StrCat("sm_", info.capability);
  char text[256] = {};
  size_t memory = 0;
  for (CUresult result :
       {driver.cuDeviceGetName(text, sizeof(text), device), driver.cuDeviceTotalMem(&memory, device)}) {
    if (status = driver.Check(result, absl::StrCat("GPU ", ordinal)); !status.ok()) return status;
  }
  accelerator.name = text;
  accelerator.memory_bytes = memory;
  // The driver writes letters large, the system writes them small.
  if (driver.cuDeviceGetPCIBusId(text, sizeof(text), device) == CUDA_SUCCESS) {
    accelerator.bus_id = absl::AsciiStrToLower(text);
    AddPlace(system, accelerator);
  }
  AddProblems(driver, device, accelerator);
  return info;
}

absl::StatusOr<device::Topology> DescribeGpus(const Driver& driver) {
  int count = 0;
  absl::Status status = driver.Check(driver.cuDeviceGetCount(&count), "cannot count GPUs");
  if (!status.ok()) return status;
  device::Topology topology;
  topology.links.resize(static_cast<size_t>(count));
  for (int from = 0; from < count; ++from) {
    absl::StatusOr<GpuInfo> info = DescribeGpu(driver, from);
    if (!info.ok()) return info.status();
    topology.accelerators.push_back(std::move(info->accelerator));
    for (int to = 0; to < count; ++to) {
      CUdevice source = 0, target = 0;
      int is_direct = 0;
      const bool is_known = from != to && driver.cuDeviceGet(&source, from) == CUDA_SUCCESS &&
                            driver.cuDeviceGet(&target, to) == CUDA_SUCCESS &&
                            driver.cuDeviceGetP2PAttribute(&is_direct, CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED, source,
                                                           target) == CUDA_SUCCESS;
      topology.links[static_cast<size_t>(from)].push_back(!is_known ? "" : is_direct ? "direct" : "through the host");
    }
  }
  return topology;
}

absl::Status ExplainGpuError(const Driver& driver, CUresult result, CUdevice device, const std::string& what) {
  absl::Status status = driver.Check(result, what);
  if (status.ok()) return status;
  std::string advice;
  const absl::StatusOr<int> mode = Attribute(driver, CU_DEVICE_ATTRIBUTE_COMPUTE_MODE, device);
  if (mode.ok() && !ComputeModeProblem(*mode).empty()) {
    advice = ComputeModeProblem(*mode);
  } else if (result == CUDA_ERROR_DEVICE_UNAVAILABLE) {
    advice = mode.ok() && *mode == CU_COMPUTEMODE_EXCLUSIVE_PROCESS
                 ? "its compute mode is 'exclusive process' and another process has it: end that one, or allow several "
                   "with nvidia-smi -c DEFAULT"
                 : "another process has it, or it is being reset; nvidia-smi shows who";
  }
  if (advice.empty()) return status;
  return absl::Status(absl::StatusCode::kFailedPrecondition, absl::StrCat(status.message(), ": ", advice));
}

}  // namespace sgd::cuda
