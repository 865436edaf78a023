// The device of a rank on an NVIDIA GPU: kernels from the artifact's PTX, matmuls by cuBLASLt, everything enqueued on
// streams.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "runtime/device/algorithm_choices.h"
#include "runtime/device/device.h"
#include "targets/gpu/device/cudnn/cudnn.h"
#include "targets/gpu/device/driver/cuda_streams.h"
#include "targets/gpu/device/driver/driver.h"
#include "targets/gpu/device/driver/kernel_library.h"
#include "targets/gpu/device/matmul/cublas_lt.h"
#include "targets/gpu/device/memory/memory.h"
#include "targets/gpu/device/memory/progress_mark.h"
#include "targets/gpu/device/nccl/nccl.h"

namespace sgd::cuda {

struct CudaDeviceOptions {
  uint32_t local_rank = 0;  // among the ranks of this host: the number of its GPU, of those that the driver shows
  // Whether ranks may have one GPU together, round robin: for tests on machines with fewer GPUs than ranks.
  bool shares_gpus = false;
  // Whether the same inputs must give the same bits in every run, at the cost of some speed.
  bool is_deterministic = true;
  // Whether streams wait for messages of other ranks while the host gives them more work.
  bool has_messages = false;
};

class CudaDevice final : public device::Device {
 public:
  // FailedPrecondition without a driver or a GPU for this rank.
  static absl::StatusOr<std::unique_ptr<CudaDevice>> Create(const CudaDeviceOptions& options);
  ~CudaDevice() override;
  CudaDevice(const CudaDevice&) = delete;
  CudaDevice& operator=(const CudaDevice&) = delete;

  const char* target() const override { return "cuda"; }
  std::string fingerprint() const override;
  std::string near_cores() const override { return near_cores_; }
  absl::Status OpenLibraries(const artifact::ArtifactFile& file) override;
  absl::Status Reserve(uint64_t bytes) override;
  std::optional<uint64_t> used_bytes() const override;
  // Of the reserved memory as long as that has room. Arenas must not outlive the device.
  absl::StatusOr<std::unique_ptr<device::Arena>> Allocate(uint64_t bytes) override;
  // For a window of collectives: memory that can be registered with NCCL where NCCL is open and has such memory, so
  // that peers read and write it directly. Of the reserved memory as long as that has room.
  absl::StatusOr<std::unique_ptr<device::Arena>> AllocateWindow(uint64_t bytes);
  // Beside the reserved memory.
  absl::StatusOr<std::unique_ptr<device::Arena>> AllocateApart(uint64_t bytes) {
    return AllocateOnDevice(*streams_, driver_, bytes);
  }
  absl::StatusOr<std::unique_ptr<device::KernelLibrary>> LoadKernels(const artifact::ArtifactFile& file) override;
  absl::StatusOr<std::unique_ptr<device::KernelLibrary>> LoadKernelsOf(const artifact::ArtifactFile& file,
                                                                       int32_t stage) override;
  device::PreparedThunk PrepareLaunch(const artifact::Launch& launch, const device::KernelLibrary& library,
                                      const device::MemoryMap& memory, std::span<const int64_t> coordinates) override;
  device::PreparedThunk PrepareLaunchGroup(std::span<const device::GroupedLaunch> launches,
                                           std::span<const device::CombinedLaunches> combined,
                                           const device::KernelLibrary& library,
                                           const device::MemoryMap& memory) override;
  device::PreparedThunk PrepareMatmul(const artifact::Matmul& matmul, const device::MemoryMap& memory) override;
  device::PreparedThunk PrepareAttention(const artifact::Attention& attention,
                                         const device::MemoryMap& memory) override;
  device::PreparedThunk PrepareConvolution(const artifact::Convolution& convolution,
                                           const device::MemoryMap& memory) override;
  device::PreparedThunk PrepareTiled(const artifact::Tiled& tiled, const device::KernelLibrary& library,
                                     const device::MemoryMap& memory) override;
  device::PreparedThunk PrepareCopy(const std::byte* source, std::byte* target, uint64_t bytes) override;
  device::PreparedThunk PrepareFill(std::byte* target, uint64_t bytes, std::span<const uint8_t> pattern) override;
  absl::Status Synchronize() override { return streams_->Synchronize(); }
  // On the calling thread: the host's work here is small.
  void RunOnThreads(uint64_t count, const std::function<void(uint64_t)>& body) override;
  uint32_t threads() const override { return 1; }
  device::HostTransfer* host_transfer() override { return transfer_.get(); }
  device::Streams* streams() override { return streams_.get(); }
  device::AlgorithmChoices* algorithm_choices() override { return choices_.get(); }

  CudaStreams& cuda_streams() { return *streams_; }
  // For threads beside the rank's own, before they call libraries.
  void UseOnThisThread() const { driver_->cuCtxSetCurrent(context_); }
  // Opened at the first call.
  absl::StatusOr<std::shared_ptr<const Nccl>> nccl();
  absl::StatusOr<std::unique_ptr<ProgressMark>> MakeProgressMark(uint32_t marks) {
    return ProgressMark::Create(*streams_, driver_, marks);
  }

 private:
  explicit CudaDevice(std::shared_ptr<const Driver> driver) : driver_(std::move(driver)) {}
  absl::Status Open(const CudaDeviceOptions& options);
  // Opened at the first matmul: programs without one need no cuBLASLt.
  absl::StatusOr<CublasLt*> cublas();
  // At the first convolution or attention.
  absl::StatusOr<Cudnn*> cudnn();

  std::shared_ptr<const Driver> driver_;
  CUdevice device_ = 0;
  CUcontext context_ = nullptr;  // the device's primary one
  bool is_deterministic_ = true;
  GpuModel gpu_;
  std::string near_cores_;
  std::unique_ptr<CudaStreams> streams_;
  std::unique_ptr<CudaTransfer> transfer_;
  std::unique_ptr<MemoryBlock> block_;
  std::unique_ptr<CublasLt> cublas_;
  std::unique_ptr<Cudnn> cudnn_;
  std::shared_ptr<const Nccl> nccl_;
  std::unique_ptr<device::AlgorithmChoices> choices_;
};

}  // namespace sgd::cuda
