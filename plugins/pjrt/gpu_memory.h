// Memory of one GPU that buffers have beside that of programs, and reads of it by the host.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/device/device.h"
#include "runtime/embed/rank_pool.h"

namespace sgd::pjrt {

// Blocks that nobody uses are kept for buffers of their size: the driver allocates slowly, and frees when all work has
// ended.
class GpuMemory {
 public:
  // A block of at least so many bytes. On the thread of a rank, whose `device` is this GPU. ResourceExhausted when the
  // GPU has no more.
  absl::StatusOr<std::unique_ptr<device::Arena>> Take(uint64_t bytes, device::Device& device);
  // Any thread. Work on the block has ended.
  void Give(std::unique_ptr<device::Arena> block);

  // Copies to the host on the thread of `pool`, whose one rank has this GPU and runs nothing. The pool must outlive
  // this.
  absl::Status Read(embed::RankPool& pool, const std::byte* source, std::span<std::byte> target);
  bool has_free_blocks() const { return !free_.empty(); }
  // Frees all blocks that nobody uses, on the thread of such a pool.
  void Clear(embed::RankPool& pool);

 private:
  static constexpr uint64_t kMostFree = uint64_t{1} << 30;

  std::unique_ptr<device::Arena> Find(uint64_t bytes);
  // Frees blocks until they have no more than `most` bytes. On the thread of a rank of this GPU.
  void Trim(uint64_t most);

  std::mutex mutex_;
  std::multimap<uint64_t, std::unique_ptr<device::Arena>> free_;  // by size
  uint64_t free_bytes_ = 0;
  std::unique_ptr<embed::RankJob> reads_;
};

}  // namespace sgd::pjrt
