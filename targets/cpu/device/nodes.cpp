// Small work stays on the calling thread: handing it to another one costs a microsecond, and more
// when that one sleeps.
#include "targets/cpu/device/nodes.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

namespace sgd::cpu {
namespace {

// Bytes of buffers below which a launch is not divided: the cheapest kernels take a microsecond for
// them.
constexpr uint64_t kBytesToShare = uint64_t{96} << 10;
// Bytes a thread copies in about ten microseconds.
constexpr uint64_t kBytesPerThread = uint64_t{128} << 10;
// Chunks per thread, for threads to even out what the system takes from one of them.
constexpr uint64_t kChunksPerThread = 4;
// A multiple of every pattern length that divides a power of two, and of a cache line.
constexpr uint64_t kCopyGrain = 4096;

// Threads worth using for that many parts.
uint32_t ActiveThreads(const ThreadPool& pool, uint64_t parts) {
  return static_cast<uint32_t>(std::clamp<uint64_t>(parts, 1, pool.size()));
}

uint32_t ChunksFor(uint32_t active, uint64_t parts) {
  if (active <= 1) return 1;
  return static_cast<uint32_t>(std::min({parts, active * kChunksPerThread, uint64_t{ThreadPool::kMaxChunks}}));
}

class LaunchNode final : public device::Node {
 public:
  LaunchNode(ThreadPool& pool, KernelCall call) : pool_(pool), call_(std::move(call)) {
    parts_ = call_.range == 0 ? 0 : (call_.range - 1) / call_.grain + 1;
    active_ = call_.bytes < kBytesToShare ? 1 : ActiveThreads(pool, parts_);
    chunks_ = parts_ == 0 ? 0 : ChunksFor(active_, parts_);
  }

  absl::Status Execute() override {
    pool_.Run(active_, chunks_, [&](uint32_t chunk, uint32_t) {
      const IndexRange part = PartOf(parts_, chunks_, chunk);
      const uint64_t end = part.end == parts_ ? call_.range : part.end * call_.grain;
      call_.function(call_.buffers.data(), call_.coordinates.data(), static_cast<int64_t>(part.begin * call_.grain),
                     static_cast<int64_t>(end));
    });
    return absl::OkStatus();
  }

 private:
  ThreadPool& pool_;
  KernelCall call_;
  uint64_t parts_ = 0;
  uint32_t active_ = 1;
  uint32_t chunks_ = 0;
};

// Bytes [begin, end) of a chunk, at multiples of the grain.
IndexRange BytesOf(uint64_t bytes, uint32_t chunks, uint32_t chunk) {
  const uint64_t grains = bytes / kCopyGrain;
  const IndexRange part = PartOf(grains, chunks, chunk);
  return {part.begin * kCopyGrain, chunk + 1 == chunks ? bytes : part.end * kCopyGrain};
}

class CopyNode final : public device::Node {
 public:
  CopyNode(ThreadPool& pool, const std::byte* source, std::byte* target, uint64_t bytes)
      : pool_(pool), source_(source), target_(target), bytes_(bytes) {
    const bool overlaps = source < target + bytes && target < source + bytes;
    active_ = overlaps ? 1 : ActiveThreads(pool, bytes / kBytesPerThread);
    chunks_ = ChunksFor(active_, bytes / kCopyGrain);
  }

  absl::Status Execute() override {
    if (bytes_ == 0 || target_ == source_) return absl::OkStatus();
    pool_.Run(active_, chunks_, [&](uint32_t chunk, uint32_t) {
      const IndexRange part = BytesOf(bytes_, chunks_, chunk);
      std::memmove(target_ + part.begin, source_ + part.begin, part.end - part.begin);
    });
    return absl::OkStatus();
  }

 private:
  ThreadPool& pool_;
  const std::byte* source_;
  std::byte* target_;
  uint64_t bytes_;
  uint32_t active_;
  uint32_t chunks_;
};

class FillNode final : public device::Node {
 public:
  FillNode(ThreadPool& pool, std::byte* target, uint64_t bytes, std::span<const uint8_t> pattern)
      : pool_(pool), target_(target), bytes_(bytes), active_(ActiveThreads(pool, bytes / kBytesPerThread)) {
    // Whole patterns only, so that the block can be repeated.
    block_bytes_ = block_.size() / pattern.size() * pattern.size();
    for (size_t i = 0; i < block_bytes_; ++i) block_[i] = pattern[i % pattern.size()];
    zero_ = std::all_of(pattern.begin(), pattern.end(), [](uint8_t byte) { return byte == 0; });
    if (kCopyGrain % pattern.size() != 0) active_ = 1;
    chunks_ = ChunksFor(active_, bytes / kCopyGrain);
  }

  absl::Status Execute() override {
    if (bytes_ == 0) return absl::OkStatus();
    pool_.Run(active_, chunks_, [&](uint32_t chunk, uint32_t) {
      const IndexRange part = BytesOf(bytes_, chunks_, chunk);
      if (zero_) {
        std::memset(target_ + part.begin, 0, part.end - part.begin);
        return;
      }
      for (uint64_t at = part.begin; at < part.end; at += block_bytes_) {
        std::memcpy(target_ + at, block_.data(), std::min<uint64_t>(block_bytes_, part.end - at));
      }
    });
    return absl::OkStatus();
  }

 private:
  ThreadPool& pool_;
  std::byte* target_;
  uint64_t bytes_;
  uint32_t active_;
  uint32_t chunks_ = 1;
  bool zero_ = false;
  size_t block_bytes_ = 0;
  std::array<uint8_t, 1024> block_{};
};

}  // namespace

std::unique_ptr<device::Node> MakeLaunch(ThreadPool& pool, KernelCall call) {
  return std::make_unique<LaunchNode>(pool, std::move(call));
}

std::unique_ptr<device::Node> MakeCopy(ThreadPool& pool, const std::byte* source, std::byte* target, uint64_t bytes) {
  return std::make_unique<CopyNode>(pool, source, target, bytes);
}

std::unique_ptr<device::Node> MakeFill(ThreadPool& pool, std::byte* target, uint64_t bytes,
                                       std::span<const uint8_t> pattern) {
  return std::make_unique<FillNode>(pool, target, bytes, pattern);
}

}  // namespace sgd::cpu
