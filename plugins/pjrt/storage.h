// The bytes of a buffer: memory of its own, or the output of a program, where it stays until the program runs again.
// With GPUs either may be on one, and bytes that came from the host are copied to each GPU that reads them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/device/device.h"

namespace sgd::pjrt {

class Program;
class RankPools;

class Storage {
 public:
  // Of `bytes` uninitialized bytes. ResourceExhausted without memory.
  static absl::StatusOr<std::shared_ptr<Storage>> Allocate(size_t bytes);
  // An output of the last run of `program`, on the rank at `index` of its own.
  static std::shared_ptr<Storage> Resident(std::shared_ptr<Program> program, size_t index, size_t output);
  // The same on GPU `gpu`, at this address of it.
  static std::shared_ptr<Storage> OnGpu(std::shared_ptr<Program> program, size_t index, size_t output,
                                        std::shared_ptr<RankPools> pools, uint32_t gpu,
                                        std::span<const std::byte> device_bytes);
  ~Storage();
  Storage(const Storage&) = delete;
  Storage& operator=(const Storage&) = delete;

  size_t size() const { return size_; }
  // The bytes in the host's memory, where new storage is filled. Valid until the program of a resident one runs again;
  // else as long as the storage. Under the lock of RankPools for resident ones. Empty of one on a GPU before HostBytes.
  std::span<std::byte> bytes() const { return bytes_; }
  // The same for reading, which copies those of a GPU the first time; not on the thread of a rank. FailedPrecondition
  // where the program that held them has failed.
  absl::StatusOr<std::span<const std::byte>> HostBytes();

  // Whether it is an output of `program`, on the rank at `index`.
  bool IsOutput(const Program& program, size_t index, size_t output) const {
    return program_.get() == &program && index_ == index && output_ == output;
  }
  // The output that it is; meaningless unless it is resident.
  size_t output() const { return output_; }
  size_t index() const { return index_; }
  bool is_resident() const { return program_ != nullptr; }
  // Copies a resident one into memory of its own, so that its bytes stay where they are.
  absl::Status Detach();
  // The same of one on a GPU, on the thread of its rank, whose device this is; complete once that is synchronized.
  absl::Status DetachOn(device::Device& device);
  // Enqueues a copy to `target`, of size() bytes, on the thread of a rank on GPU `gpu`, whose device this is.
  absl::Status CopyTo(device::Device& device, const std::shared_ptr<RankPools>& pools, uint32_t gpu, std::byte* target);
  // Its bytes are gone: what reads it has been destroyed.
  void Forget();

 private:
  Storage() = default;

  static absl::Status LostError();

  struct Copy {
    uint32_t gpu;
    std::unique_ptr<device::Arena> block;
  };

  absl::StatusOr<std::byte*> BlockOn(device::Device& device, const std::shared_ptr<RankPools>& pools, uint32_t gpu);
  // Of the host's bytes on a GPU: the one there is, or a new one.
  absl::StatusOr<std::byte*> CopyOn(device::Device& device, const std::shared_ptr<RankPools>& pools, uint32_t gpu);

  size_t size_ = 0;
  std::span<std::byte> bytes_;
  void* own_ = nullptr;               // what bytes_ are in, unless they are resident
  std::shared_ptr<RankPools> pools_;  // of the GPUs that have the bytes; null: none has
  uint32_t gpu_ = 0;
  const std::byte* device_ = nullptr;  // the address on that GPU; null: the host has them
  std::mutex mutex_;                   // of the copies, which ranks make at the same time
  std::vector<Copy> copies_;           // on GPUs: what device_ is in, or of the host's bytes
  std::shared_ptr<Program> program_;   // null unless it is resident
  size_t index_ = 0;
  size_t output_ = 0;
};

}  // namespace sgd::pjrt
