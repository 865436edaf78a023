// One allocation of the driver for each arena.
#include "targets/gpu/device/memory/memory.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/memory/memory.h"
#include "absl/strings/str_cat.h"

namespace sgd::cuda {
namespace {

constexpr uint64_t kAlignment = 4096;

class DeviceArena final : public device::Arena {
 public:
  DeviceArena(DeviceMemory memory, uint64_t bytes) : memory_(std::move(memory)), bytes_(bytes) {}
  std::byte* data() const override { return PointerOf((memory_.get() + kAlignment - 1) / kAlignment * kAlignment); }
  uint64_t size() const override { return bytes_; }

 private:
  DeviceMemory memory_;
  uint64_t bytes_;
};

// Memory that peers can map. Begins on a multiple of more than kAlignment.
class NcclArena final : public device::Arena {
 public:
  NcclArena(std::shared_ptr<const Nccl> nccl, void* memory, uint64_t bytes)
      : nccl_(std::move(nccl)), memory_(memory), bytes_(bytes) {}
  ~NcclArena() override { nccl_->ncclMemFree(memory_); }
  std::byte* data() const override { return static_cast<std::byte*>(memory_); }
  uint64_t size() const override { return bytes_; }

 private:
  std::shared_ptr<const Nccl> nccl_;
  void* memory_;
  uint64_t bytes_;
};

class HostArena final : public device::Arena {
 public:
  HostArena(PinnedMemory memory, uint64_t bytes) : memory_(std::move(memory)), bytes_(bytes) {}
  std::byte* data() const override { return static_cast<std::byte*>(memory_.get()); }
  uint64_t size() const override { return bytes_; }

 private:
  PinnedMemory memory_;
  uint64_t bytes_;
};

class PartArena final : public device::Arena {
 public:
  PartArena(std::byte* data, uint64_t bytes) : data_(data), bytes_(bytes) {}
  std::byte* data() const override { return data_; }
  uint64_t size() const override { return bytes_; }

 private:
  std::byte* data_;
  uint64_t bytes_;
};

absl::Status OutOfMemory(const Driver& driver, uint64_t bytes, const absl::Status& status) {
  size_t free = 0, total = 0;
  if (status.code() != absl::StatusCode::kResourceExhausted || driver.cuMemGetInfo(&free, &total) != CUDA_SUCCESS)
    return status;
  return absl::ResourceExhaustedError(absl::StrCat("the GPU has ", free, " of ", total, " bytes free, this rank needs ",
                                                   bytes, ": ", status.message(),
                                                   "; expected that much; end other programs on it, or compile with a "
                                                   "lower --memory-limit"));
}

absl::StatusOr<std::unique_ptr<device::Arena>> Clear(CudaStreams& streams, const Driver& driver,
                                                     std::unique_ptr<device::Arena> arena) {
  if (arena->size() == 0) return arena;
  absl::Status status =
      driver.Check(driver.cuMemsetD8Async(AddressOf(arena->data()), 0, arena->size(), streams.compute()),
                   "cannot clear memory of the GPU");
  if (status.ok()) status = streams.Synchronize();
  if (!status.ok()) return status;
  return arena;
}

absl::StatusOr<std::unique_ptr<device::Arena>> AllocateByNccl(CudaStreams& streams, const Driver& driver,
                                                              const std::shared_ptr<const Nccl>& nccl, uint64_t bytes) {
  // NCCL does not say whether it was memory that it lacked.
  size_t free = 0, total = 0;
  if (driver.cuMemGetInfo(&free, &total) == CUDA_SUCCESS && free < bytes)
    return OutOfMemory(driver, bytes, absl::ResourceExhaustedError("cannot allocate memory of the GPU"));
  void* memory = nullptr;
  absl::Status status = nccl->Check(nccl->ncclMemAlloc(&memory, bytes), "cannot allocate memory of the GPU");
  if (!status.ok()) return status;
  return Clear(streams, driver, std::make_unique<NcclArena>(nccl, memory, bytes));
}

}  // namespace

absl::StatusOr<std::unique_ptr<device::Arena>> AllocateOnDevice(CudaStreams& streams,
                                                                const std::shared_ptr<const Driver>& driver,
                                                                uint64_t bytes) {
  CUdeviceptr address = 0;
  absl::Status status =
      driver->Check(driver->cuMemAlloc(&address, bytes + kAlignment), "cannot allocate memory of the GPU");
  if (!status.ok()) return OutOfMemory(*driver, bytes, status);
  return Clear(streams, *driver, std::make_unique<DeviceArena>(DeviceMemory(driver, address), bytes));
}

absl::StatusOr<std::unique_ptr<device::Arena>> AllocateToRegister(CudaStreams& streams,
                                                                  const std::shared_ptr<const Driver>& driver,
                                                                  const std::shared_ptr<const Nccl>& nccl,
                                                                  uint64_t bytes) {
  const bool can_register = nccl != nullptr && nccl->registration() != Registration::kNone && bytes > 0;
  return can_register ? AllocateByNccl(streams, *driver, nccl, bytes) : AllocateOnDevice(streams, driver, bytes);
}

absl::StatusOr<std::unique_ptr<MemoryBlock>> MemoryBlock::Take(CudaStreams& streams,
                                                               const std::shared_ptr<const Driver>& driver,
                                                               const std::shared_ptr<const Nccl>& nccl,
                                                               uint64_t bytes) {
  absl::StatusOr<std::unique_ptr<device::Arena>> memory = AllocateToRegister(streams, driver, nccl, bytes);
  if (!memory.ok()) return memory.status();
  return absl::WrapUnique(new MemoryBlock(*std::move(memory)));
}

std::unique_ptr<device::Arena> MemoryBlock::Part(uint64_t bytes) {
  if (bytes > memory_->size() - used_) return nullptr;
  auto part = std::make_unique<PartArena>(memory_->data() + used_, bytes);
  const uint64_t rounded = (bytes + kAlignment - 1) / kAlignment * kAlignment;
  used_ = std::min(used_ + rounded, memory_->size());
  return part;
}

absl::StatusOr<std::unique_ptr<device::Arena>> CudaTransfer::AllocateHost(uint64_t bytes) {
  void* memory = nullptr;
  // The driver refuses to allocate nothing.
  absl::Status status = driver_->Check(driver_->cuMemHostAlloc(&memory, bytes + 1, CU_MEMHOSTALLOC_PORTABLE),
                                       absl::StrCat("cannot allocate ", bytes, " bytes of pinned host memory"));
  if (!status.ok()) return status;
  std::memset(memory, 0, bytes);
  return std::make_unique<HostArena>(PinnedMemory(driver_, memory), bytes);
}

absl::Status CudaTransfer::Upload(std::span<const std::byte> source, std::byte* target, uint32_t stream) {
  if (source.empty()) return absl::OkStatus();
  return driver_->Check(
      driver_->cuMemcpyAsync(AddressOf(target), AddressOf(source.data()), source.size(), streams_.stream(stream)),
      "cannot copy to the GPU");
}

absl::Status CudaTransfer::Fetch(const std::byte* source, std::span<std::byte> target) {
  if (target.empty()) return absl::OkStatus();
  return driver_->Check(
      driver_->cuMemcpyAsync(AddressOf(target.data()), AddressOf(source), target.size(), streams_.compute()),
      "cannot copy from the GPU");
}

absl::Status CudaTransfer::Read(const std::byte* source, std::span<std::byte> target) {
  absl::Status status = Fetch(source, target);
  return status.ok() ? driver_->Check(driver_->cuStreamSynchronize(streams_.compute()), "cannot copy from the GPU")
                     : status;
}

absl::Status CudaTransfer::Download(const std::byte* source, std::span<std::byte> target) {
  absl::Status status = streams_.Synchronize();
  return status.ok() ? Read(source, target) : status;
}

}  // namespace sgd::cuda
