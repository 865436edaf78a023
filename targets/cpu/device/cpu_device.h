// The device of a CPU rank: its own threads, kernels from the artifact's ELF object,
// matmuls of its own.
#pragma once

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/device/device.h"
#include "targets/cpu/device/linear_algebra/lapack_library.h"
#include "targets/cpu/device/threads/thread_pool.h"
#include "targets/cpu/device/threads/thread_scratch.h"

namespace sgd::cpu {

struct CpuDeviceOptions {
  uint32_t threads = 1;  // at least 1, the calling thread included
  // Where each thread is to stay; the first one, the caller's, binds itself. Empty: the system
  // decides.
  std::vector<int> cores = {};
  // Whether threads have to wait for cores that others of the job use: they then give theirs away
  // soon when they have nothing to do.
  bool shares_cores = false;
  // Launches and matmuls call nothing, though they are handed to threads as ever: to measure what a
  // plan itself costs. Results are meaningless.
  bool null_kernels = false;
};

// Results do not depend on the number of threads.
class CpuDevice final : public device::Device {
 public:
  // InvalidArgument for 0 or more than 4096 threads, ResourceExhausted when the system has no more.
  static absl::StatusOr<std::unique_ptr<CpuDevice>> Create(const CpuDeviceOptions& options);

  const char* target() const override { return "cpu"; }
  std::string fingerprint() const override;
  absl::Status OpenLibraries(const artifact::ArtifactFile& file) override;
  absl::StatusOr<std::unique_ptr<device::Arena>> Allocate(uint64_t bytes) override;
  absl::StatusOr<std::unique_ptr<device::KernelLibrary>> LoadKernels(const artifact::ArtifactFile& file) override;
  device::PreparedThunk PrepareLaunch(const artifact::Launch& launch, const device::KernelLibrary& library,
                                      const device::MemoryMap& memory, std::span<const int64_t> coordinates) override;
  device::PreparedThunk PrepareLaunchGroup(std::span<const device::GroupedLaunch> launches,
                                           std::span<const device::CombinedLaunches> combined,
                                           const device::KernelLibrary& library,
                                           const device::MemoryMap& memory) override;
  device::PreparedThunk PrepareMatmul(const artifact::Matmul& matmul, const device::MemoryMap& memory) override;
  device::PreparedThunk PrepareConvolution(const artifact::Convolution& convolution,
                                           const device::MemoryMap& memory) override;
  device::PreparedThunk PrepareLinearAlgebra(const artifact::LinearAlgebra& call,
                                             const device::MemoryMap& memory) override;
  device::PreparedThunk PrepareTiled(const artifact::Tiled& tiled, const device::KernelLibrary& library,
                                     const device::MemoryMap& memory) override;
  device::PreparedThunk PrepareCopy(const std::byte* source, std::byte* target, uint64_t bytes) override;
  device::PreparedThunk PrepareFill(std::byte* target, uint64_t bytes, std::span<const uint8_t> pattern) override;
  absl::Status Synchronize() override { return absl::OkStatus(); }
  void RunOnThreads(uint64_t count, const std::function<void(uint64_t)>& body) override;
  uint32_t threads() const override { return pool_->size(); }
  uint64_t progress() const override { return pool_->progress(); }

 private:
  CpuDevice(const CpuDeviceOptions& options, std::unique_ptr<ThreadPool> pool)
      : null_kernels_(options.null_kernels),
        pool_(std::move(pool)),
        scratch_(options.threads),
        tile_scratch_(options.threads) {}

  // Checks that this CPU has what the artifact's kernels need.
  absl::Status AdmitArtifact(const artifact::ArtifactFile& file);
  // Opens LAPACK the first time.
  absl::StatusOr<const LapackLibrary*> lapack();

  const bool null_kernels_;
  std::unique_ptr<const LapackLibrary> lapack_;  // null until it is needed
  std::set<std::string> cpu_flags_;              // empty until an artifact is checked
  const std::unique_ptr<ThreadPool> pool_;
  ThreadScratch scratch_;
  ThreadScratch tile_scratch_;  // Tiled.scratch_bytes
};

}  // namespace sgd::cpu
