// Small work stays on the calling thread: handing it to another one costs a microsecond, and more
// when that one sleeps.
#include "targets/cpu/device/thunks.h"

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
// More chunks than threads even out interruptions of single threads.
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

// Parts that a call can be divided into.
uint64_t PartsOf(const KernelCall& call) { return call.range == 0 ? 0 : (call.range - 1) / call.grain + 1; }

// Runs parts [begin, end) of `parts` ones of a call.
void RunParts(const KernelCall& call, uint64_t parts, uint64_t begin, uint64_t end) {
  call.function(call.buffers.data(), call.coordinates.data(), static_cast<int64_t>(begin * call.grain),
                static_cast<int64_t>(end == parts ? call.range : end * call.grain));
}

class LaunchThunk final : public device::Thunk {
 public:
  LaunchThunk(ThreadPool& pool, KernelCall call) : pool_(pool), call_(std::move(call)), parts_(PartsOf(call_)) {
    active_ = call_.bytes < kBytesToShare ? 1 : ActiveThreads(pool, parts_);
    chunks_ = parts_ == 0 ? 0 : ChunksFor(active_, parts_);
  }

  absl::Status Execute() override {
    pool_.Run(active_, chunks_, [&](uint32_t chunk, uint32_t thread) {
      const IndexRange part = PartOf(parts_, chunks_, chunk);
      RunParts(call_, parts_, part.begin, part.end);
      pool_.CountPart(thread);
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

// Several calls one after another, cut into chunks of about equal weight; a chunk may begin in one
// call and end in another.
class LaunchGroupThunk final : public device::Thunk {
 public:
  LaunchGroupThunk(ThreadPool& pool, std::vector<KernelCall> calls) : pool_(pool) {
    uint64_t all_parts = 0, all_bytes = 0;
    for (KernelCall& call : calls) {
      const uint64_t parts = PartsOf(call);
      if (parts == 0) continue;
      all_parts += parts;
      all_bytes += call.bytes;
      pieces_.push_back({std::move(call), parts});
    }
    const uint32_t active = all_bytes < kBytesToShare ? 1 : ActiveThreads(pool, all_parts);
    active_ = active;
    Cut(all_parts == 0 ? 0 : ChunksFor(active, all_parts), all_bytes);
  }

  absl::Status Execute() override {
    if (pieces_.empty()) return absl::OkStatus();
    pool_.Run(active_, static_cast<uint32_t>(bounds_.size() - 1), [&](uint32_t chunk, uint32_t thread) {
      RunBetween(bounds_[chunk], bounds_[chunk + 1]);
      pool_.CountPart(thread);
    });
    return absl::OkStatus();
  }

 private:
  struct Piece {
    KernelCall call;
    uint64_t parts;
  };
  // A part of a piece, or the end: the piece behind the last one.
  struct Bound {
    size_t piece;
    uint64_t part;
  };

  // A part weighs its share of the call's bytes, and what a call costs that does next to nothing.
  void Cut(uint32_t chunks, uint64_t all_bytes) {
    constexpr double kCallBytes = 1024;
    const double all = static_cast<double>(all_bytes) + kCallBytes * static_cast<double>(pieces_.size());
    double before = 0;  // weight of the pieces that are cut
    bounds_.push_back({0, 0});
    for (size_t i = 0; i < pieces_.size(); ++i) {
      const double weight = static_cast<double>(pieces_[i].call.bytes) + kCallBytes;
      while (bounds_.size() < chunks) {
        const double wanted = all * static_cast<double>(bounds_.size()) / chunks - before;
        if (wanted >= weight) break;
        bounds_.push_back({i, static_cast<uint64_t>(wanted / weight * static_cast<double>(pieces_[i].parts))});
      }
      before += weight;
    }
    bounds_.push_back({pieces_.size(), 0});
  }

  void RunBetween(Bound begin, Bound end) const {
    for (; begin.piece < end.piece; begin = {begin.piece + 1, 0}) {
      const Piece& piece = pieces_[begin.piece];
      RunParts(piece.call, piece.parts, begin.part, piece.parts);
    }
    if (begin.part < end.part) RunParts(pieces_[end.piece].call, pieces_[end.piece].parts, begin.part, end.part);
  }

  ThreadPool& pool_;
  std::vector<Piece> pieces_;
  std::vector<Bound> bounds_;  // of the chunks
  uint32_t active_ = 1;
};

// Bytes [begin, end) of a chunk, at multiples of the grain.
IndexRange BytesOf(uint64_t bytes, uint32_t chunks, uint32_t chunk) {
  const uint64_t grains = bytes / kCopyGrain;
  const IndexRange part = PartOf(grains, chunks, chunk);
  return {part.begin * kCopyGrain, chunk + 1 == chunks ? bytes : part.end * kCopyGrain};
}

class CopyThunk final : public device::Thunk {
 public:
  CopyThunk(ThreadPool& pool, const std::byte* source, std::byte* target, uint64_t bytes)
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

class FillThunk final : public device::Thunk {
 public:
  FillThunk(ThreadPool& pool, std::byte* target, uint64_t bytes, std::span<const uint8_t> pattern)
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

std::unique_ptr<device::Thunk> MakeLaunch(ThreadPool& pool, KernelCall call) {
  return std::make_unique<LaunchThunk>(pool, std::move(call));
}

std::unique_ptr<device::Thunk> MakeLaunchGroup(ThreadPool& pool, std::vector<KernelCall> calls) {
  return std::make_unique<LaunchGroupThunk>(pool, std::move(calls));
}

std::unique_ptr<device::Thunk> MakeCopy(ThreadPool& pool, const std::byte* source, std::byte* target, uint64_t bytes) {
  return std::make_unique<CopyThunk>(pool, source, target, bytes);
}

std::unique_ptr<device::Thunk> MakeFill(ThreadPool& pool, std::byte* target, uint64_t bytes,
                                        std::span<const uint8_t> pattern) {
  return std::make_unique<FillThunk>(pool, target, bytes, pattern);
}

}  // namespace sgd::cpu
