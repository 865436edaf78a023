// A CPU whose arenas end where memory that must not be touched begins.
#pragma once

#include <memory>

#include "targets/cpu/device/cpu_device.h"

namespace sgd::testing {

// Everything but memory is the CPU's. An arena begins on a page and has pages without access in front of it and behind;
// under the address sanitizer the bytes from its end to the next page are poisoned too.
class GuardedDevice : public device::Device {
 public:
  explicit GuardedDevice(std::unique_ptr<cpu::CpuDevice> cpu) : cpu_(std::move(cpu)) {}

  const char* target() const override { return cpu_->target(); }
  std::string fingerprint() const override { return cpu_->fingerprint(); }
  absl::StatusOr<std::unique_ptr<device::Arena>> Allocate(uint64_t bytes) override;
  absl::StatusOr<std::unique_ptr<device::KernelLibrary>> LoadKernels(const artifact::ArtifactFile& file) override {
    return cpu_->LoadKernels(file);
  }
  device::PreparedThunk PrepareLaunch(const artifact::Launch& launch, const device::KernelLibrary& library,
                                      const device::MemoryMap& memory, std::span<const int64_t> coordinates) override {
    return cpu_->PrepareLaunch(launch, library, memory, coordinates);
  }
  device::PreparedThunk PrepareLaunchGroup(std::span<const device::GroupedLaunch> launches,
                                           std::span<const device::CombinedLaunches> combined,
                                           const device::KernelLibrary& library,
                                           const device::MemoryMap& memory) override {
    return cpu_->PrepareLaunchGroup(launches, combined, library, memory);
  }
  device::PreparedThunk PrepareMatmul(const artifact::Matmul& matmul, const device::MemoryMap& memory) override {
    return cpu_->PrepareMatmul(matmul, memory);
  }
  device::PreparedThunk PrepareConvolution(const artifact::Convolution& convolution,
                                           const device::MemoryMap& memory) override {
    return cpu_->PrepareConvolution(convolution, memory);
  }
  device::PreparedThunk PrepareTiled(const artifact::Tiled& tiled, const device::KernelLibrary& library,
                                     const device::MemoryMap& memory) override {
    return cpu_->PrepareTiled(tiled, library, memory);
  }
  device::PreparedThunk PrepareCopy(const std::byte* source, std::byte* target, uint64_t bytes) override {
    return cpu_->PrepareCopy(source, target, bytes);
  }
  device::PreparedThunk PrepareFill(std::byte* target, uint64_t bytes, std::span<const uint8_t> pattern) override {
    return cpu_->PrepareFill(target, bytes, pattern);
  }
  absl::Status Synchronize() override { return cpu_->Synchronize(); }
  void RunOnThreads(uint64_t count, const std::function<void(uint64_t)>& body) override {
    cpu_->RunOnThreads(count, body);
  }
  uint32_t threads() const override { return cpu_->threads(); }

 private:
  std::unique_ptr<cpu::CpuDevice> cpu_;
};

}  // namespace sgd::testing
