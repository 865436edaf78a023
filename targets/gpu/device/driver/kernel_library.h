// The kernels of an artifact, as functions of the module that fits the GPU.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "runtime/artifact/reader.h"
#include "runtime/device/device.h"
#include "targets/gpu/device/driver/driver.h"

namespace sgd::cuda {

struct GpuModel {
  std::string name;    // as the driver calls it
  int capability = 0;  // 90 for compute capability 9.0
};

// The position of the architecture among `names` ("sm_90") whose code the GPU runs best: the newest that is not newer
// than the GPU. Names with letters behind the number, such as sm_90a, are for exactly that GPU; a name that is the
// GPU's own is for it alone. FailedPrecondition, saying what to compile for, when there is none.
absl::StatusOr<size_t> ChooseArchitecture(const std::vector<std::string>& names, const GpuModel& gpu);

class CudaKernelLibrary final : public device::KernelLibrary {
 public:
  // Of the kernels that a stage's programs run; -1: of all. FailedPrecondition when the artifact has no module for this
  // GPU or its driver is too old for it.
  static absl::StatusOr<std::unique_ptr<CudaKernelLibrary>> Load(std::shared_ptr<const Driver> driver,
                                                                 const GpuModel& gpu,
                                                                 const artifact::ArtifactFile& file, int32_t stage);

  struct Kernel {
    CUfunction function = nullptr;  // null: runs as part of combined kernels alone, or on other stages
    uint32_t threads = 1;
    uint32_t shared_bytes = 0;
  };
  const Kernel& kernel(uint32_t index) const { return kernels_[index]; }

 private:
  Module module_;
  std::vector<Kernel> kernels_;
};

}  // namespace sgd::cuda
