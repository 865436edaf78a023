// A device whose kernels are a GPU's, on the emulator, and everything else the CPU's: what kernels made for
// `cuda:emulated` compute in whole programs.
#pragma once

#include <memory>

#include "runtime/artifact/epilogue.h"
#include "targets/cpu/device/cpu_device.h"
#include "tests/targets/gpu/emulator/gelu_matmul.h"
#include "tests/targets/gpu/emulator/kernel_emulator.h"
#include "tests/targets/gpu/emulator/library_attention.h"
#include "tests/targets/gpu/emulator/library_convolution.h"
#include "tests/targets/gpu/emulator/plain_matmul.h"

namespace sgd::emulator {

class EmulatedDevice final : public device::Device {
 public:
  static absl::StatusOr<std::unique_ptr<EmulatedDevice>> Create(Order order);

  const char* target() const override { return "cuda"; }
  std::string fingerprint() const override { return "emulated"; }
  absl::StatusOr<std::unique_ptr<device::Arena>> Allocate(uint64_t bytes) override { return cpu_->Allocate(bytes); }
  absl::StatusOr<std::unique_ptr<device::KernelLibrary>> LoadKernels(const artifact::ArtifactFile& file) override;
  device::PreparedThunk PrepareLaunch(const artifact::Launch& launch, const device::KernelLibrary& library,
                                      const device::MemoryMap& memory, std::span<const int64_t> coordinates) override;
  device::PreparedThunk PrepareLaunchGroup(std::span<const device::GroupedLaunch> launches,
                                           std::span<const device::CombinedLaunches> combined,
                                           const device::KernelLibrary& library,
                                           const device::MemoryMap& memory) override;
  device::PreparedThunk PrepareMatmul(const artifact::Matmul& matmul, const device::MemoryMap& memory) override {
    if (IsPlainMatmul(matmul)) return MakePlainMatmul(matmul, memory);
    if (artifact::EpilogueOf(matmul.epilogue()).HasGelu()) return MakeGeluMatmul(*cpu_, matmul, memory);
    return cpu_->PrepareMatmul(matmul, memory);
  }
  device::PreparedThunk PrepareConvolution(const artifact::Convolution& convolution,
                                           const device::MemoryMap& memory) override {
    return MakeLibraryConvolution(convolution, memory);
  }
  device::PreparedThunk PrepareAttention(const artifact::Attention& attention,
                                         const device::MemoryMap& memory) override {
    return MakeLibraryAttention(attention, memory);
  }
  device::PreparedThunk PrepareTiled(const artifact::Tiled& tiled, const device::KernelLibrary& library,
                                     const device::MemoryMap& memory) override {
    return absl::UnimplementedError("plans for GPUs have no tiles");
  }
  device::PreparedThunk PrepareCopy(const std::byte* source, std::byte* target, uint64_t bytes) override {
    return cpu_->PrepareCopy(source, target, bytes);
  }
  device::PreparedThunk PrepareFill(std::byte* target, uint64_t bytes, std::span<const uint8_t> pattern) override {
    return cpu_->PrepareFill(target, bytes, pattern);
  }
  absl::Status Synchronize() override { return absl::OkStatus(); }
  void RunOnThreads(uint64_t count, const std::function<void(uint64_t)>& body) override {
    cpu_->RunOnThreads(count, body);
  }
  uint32_t threads() const override { return 1; }

 private:
  EmulatedDevice(std::unique_ptr<cpu::CpuDevice> cpu, Order order) : cpu_(std::move(cpu)), order_(order) {}

  std::unique_ptr<cpu::CpuDevice> cpu_;
  Order order_;
};

}  // namespace sgd::emulator
