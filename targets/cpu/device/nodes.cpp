// Small work stays on the calling thread: waking another one costs some microseconds.
#include "targets/cpu/device/nodes.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

namespace sgd::cpu {
namespace {

// Bytes a thread copies in about ten microseconds.
constexpr uint64_t kBytesPerThread = uint64_t{128} << 10;
// A multiple of every pattern length that divides a power of two, and of a cache line.
constexpr uint64_t kCopyGrain = 4096;

// Threads worth using for that many parts.
uint32_t ActiveThreads(const ThreadPool& pool, uint64_t parts) {
  return static_cast<uint32_t>(std::clamp<uint64_t>(parts, 1, pool.size()));
}

class LaunchNode final : public device::Node {
 public:
  LaunchNode(ThreadPool& pool, KernelCall call) : pool_(pool), call_(std::move(call)) {}

  absl::Status Execute() override {
    if (call_.range == 0) return absl::OkStatus();
    const uint64_t parts = (call_.range - 1) / call_.grain + 1;
    const uint32_t active = ActiveThreads(pool_, parts);
    pool_.Run(active, [&](uint32_t thread) {
      const IndexRange part = PartOf(parts, active, thread);
      const uint64_t end = part.end == parts ? call_.range : part.end * call_.grain;
      call_.function(call_.buffers.data(), call_.coordinates.data(),
                     static_cast<int64_t>(part.begin * call_.grain), static_cast<int64_t>(end));
    });
    return absl::OkStatus();
  }

 private:
  ThreadPool& pool_;
  KernelCall call_;
};

// Bytes [begin, end) for a thread, at multiples of the grain.
IndexRange BytesOf(uint64_t bytes, uint32_t active, uint32_t thread) {
  const uint64_t grains = bytes / kCopyGrain;
  const IndexRange part = PartOf(grains, active, thread);
  return {part.begin * kCopyGrain, thread + 1 == active ? bytes : part.end * kCopyGrain};
}

class CopyNode final : public device::Node {
 public:
  CopyNode(ThreadPool& pool, const std::byte* source, std::byte* target, uint64_t bytes)
      : pool_(pool), source_(source), target_(target), bytes_(bytes) {
    const bool overlaps = source < target + bytes && target < source + bytes;
    active_ = overlaps ? 1 : ActiveThreads(pool, bytes / kBytesPerThread);
  }

  absl::Status Execute() override {
    if (bytes_ == 0) return absl::OkStatus();
    pool_.Run(active_, [&](uint32_t thread) {
      const IndexRange part = BytesOf(bytes_, active_, thread);
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
};

class FillNode final : public device::Node {
 public:
  FillNode(ThreadPool& pool, std::byte* target, uint64_t bytes, std::span<const uint8_t> pattern)
      : pool_(pool),
        target_(target),
        bytes_(bytes),
        active_(ActiveThreads(pool, bytes / kBytesPerThread)) {
    // Whole patterns only, so that the block can be repeated.
    block_bytes_ = block_.size() / pattern.size() * pattern.size();
    for (size_t i = 0; i < block_bytes_; ++i) block_[i] = pattern[i % pattern.size()];
    zero_ = std::all_of(pattern.begin(), pattern.end(), [](uint8_t byte) { return byte == 0; });
    if (kCopyGrain % pattern.size() != 0) active_ = 1;
  }

  absl::Status Execute() override {
    if (bytes_ == 0) return absl::OkStatus();
    pool_.Run(active_, [&](uint32_t thread) {
      const IndexRange part = BytesOf(bytes_, active_, thread);
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
  bool zero_ = false;
  size_t block_bytes_ = 0;
  std::array<uint8_t, 1024> block_{};
};

}  // namespace

std::unique_ptr<device::Node> MakeLaunch(ThreadPool& pool, KernelCall call) {
  return std::make_unique<LaunchNode>(pool, std::move(call));
}

std::unique_ptr<device::Node> MakeCopy(ThreadPool& pool, const std::byte* source, std::byte* target,
                                       uint64_t bytes) {
  return std::make_unique<CopyNode>(pool, source, target, bytes);
}

std::unique_ptr<device::Node> MakeFill(ThreadPool& pool, std::byte* target, uint64_t bytes,
                                       std::span<const uint8_t> pattern) {
  return std::make_unique<FillNode>(pool, target, bytes, pattern);
}

}  // namespace sgd::cpu
