// Arenas of a GPU's memory and of pinned memory of the host, and copies between them.
#pragma once

#include <memory>

#include "runtime/device/device.h"
#include "runtime/device/host_transfer.h"
#include "targets/gpu/device/driver/cuda_streams.h"
#include "targets/gpu/device/nccl/nccl.h"

namespace sgd::cuda {

// Aligned to 4096 bytes, zero. ResourceExhausted, saying how much is free, when the GPU has not that much.
absl::StatusOr<std::unique_ptr<device::Arena>> AllocateOnDevice(CudaStreams& streams,
                                                                const std::shared_ptr<const Driver>& driver,
                                                                uint64_t bytes);

// The same by NCCL where `nccl` is not null and can, so that it can be registered with NCCL.
absl::StatusOr<std::unique_ptr<device::Arena>> AllocateToRegister(CudaStreams& streams,
                                                                  const std::shared_ptr<const Driver>& driver,
                                                                  const std::shared_ptr<const Nccl>& nccl,
                                                                  uint64_t bytes);

// One allocation of the driver that arenas are parts of, zero at the start. Must outlive them.
class MemoryBlock {
 public:
  // Enough for arenas of `bytes` bytes together, each rounded up to 4096. As AllocateToRegister.
  static absl::StatusOr<std::unique_ptr<MemoryBlock>> Take(CudaStreams& streams,
                                                           const std::shared_ptr<const Driver>& driver,
                                                           const std::shared_ptr<const Nccl>& nccl, uint64_t bytes);

  // Null when there is no room left.
  std::unique_ptr<device::Arena> Part(uint64_t bytes);

 private:
  explicit MemoryBlock(std::unique_ptr<device::Arena> memory) : memory_(std::move(memory)) {}

  std::unique_ptr<device::Arena> memory_;
  uint64_t used_ = 0;
};

// Device addresses as the interface has them: never to be used by the host.
inline std::byte* PointerOf(CUdeviceptr address) { return reinterpret_cast<std::byte*>(address); }
inline CUdeviceptr AddressOf(const std::byte* pointer) { return reinterpret_cast<CUdeviceptr>(pointer); }

class CudaTransfer final : public device::HostTransfer {
 public:
  CudaTransfer(CudaStreams& streams, std::shared_ptr<const Driver> driver)
      : streams_(streams), driver_(std::move(driver)) {}

  absl::StatusOr<std::unique_ptr<device::Arena>> AllocateHost(uint64_t bytes) override;
  absl::Status Upload(std::span<const std::byte> source, std::byte* target, uint32_t stream) override;
  absl::Status Fetch(const std::byte* source, std::span<std::byte> target) override;
  absl::Status Read(const std::byte* source, std::span<std::byte> target) override;
  absl::Status Download(const std::byte* source, std::span<std::byte> target) override;

 private:
  CudaStreams& streams_;
  std::shared_ptr<const Driver> driver_;
};

}  // namespace sgd::cuda
