// The artifact's kernels as callable functions of this process.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/artifact/reader.h"
#include "runtime/device/device.h"

namespace sgd::cpu {

// See Kernel in program.fbs.
using KernelFunction = void (*)(void* const* buffers, const int64_t* coordinates, int64_t begin, int64_t end);

class CpuKernelLibrary final : public device::KernelLibrary {
 public:
  // Loads the verified ELF object through a memory file, so that nothing is written to disk;
  // Internal when the loader refuses it.
  static absl::StatusOr<std::unique_ptr<CpuKernelLibrary>> Load(const artifact::ArtifactFile& file);
  ~CpuKernelLibrary() override;

  // By index in Artifact.kernels.
  KernelFunction function(uint32_t kernel) const { return functions_[kernel]; }

 private:
  CpuKernelLibrary() = default;

  void* handle_ = nullptr;
  std::vector<KernelFunction> functions_;
};

}  // namespace sgd::cpu
