// Every thunk keeps what the driver's call needs and the streams that say where it goes.
#include "targets/gpu/device/memory/thunks.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "targets/gpu/device/memory/memory.h"

namespace sgd::cuda {
namespace {

class LaunchThunk final : public device::Thunk {
 public:
  LaunchThunk(CudaStreams& streams, KernelCall call) : streams_(streams), call_(std::move(call)) {
    for (uint64_t& argument : call_.arguments) pointers_.push_back(&argument);
  }

  absl::Status Execute() override {
    if (call_.blocks == 0) return absl::OkStatus();
    const Driver& driver = streams_.driver();
    return driver.Check(driver.cuLaunchKernel(call_.function, call_.blocks, 1, 1, call_.threads, 1, 1,
                                              call_.shared_bytes, streams_.used(), pointers_.data(), nullptr),
                        "cannot launch a kernel");
  }

 private:
  CudaStreams& streams_;
  KernelCall call_;
  std::vector<void*> pointers_;
};

class SequenceThunk final : public device::Thunk {
 public:
  explicit SequenceThunk(std::vector<std::unique_ptr<device::Thunk>> thunks) : thunks_(std::move(thunks)) {}

  absl::Status Execute() override {
    for (const std::unique_ptr<device::Thunk>& thunk : thunks_) {
      if (absl::Status status = thunk->Execute(); !status.ok()) return status;
    }
    return absl::OkStatus();
  }

 private:
  std::vector<std::unique_ptr<device::Thunk>> thunks_;
};

class CopyThunk final : public device::Thunk {
 public:
  CopyThunk(CudaStreams& streams, CUdeviceptr source, CUdeviceptr target, uint64_t bytes)
      : streams_(streams), source_(source), target_(target), bytes_(bytes) {}

  absl::Status Execute() override {
    const Driver& driver = streams_.driver();
    return bytes_ == 0 ? absl::OkStatus()
                       : driver.Check(driver.cuMemcpyAsync(target_, source_, bytes_, streams_.used()), "cannot copy");
  }

 private:
  CudaStreams& streams_;
  CUdeviceptr source_, target_;
  uint64_t bytes_;
};

// The driver's copies are of ranges that do not overlap.
class OverlappingCopyThunk final : public device::Thunk {
 public:
  OverlappingCopyThunk(CudaStreams& streams, CUdeviceptr source, CUdeviceptr target, uint64_t bytes,
                       std::unique_ptr<device::Arena> staging)
      : staging_(std::move(staging)),
        out_(streams, source, AddressOf(staging_->data()), bytes),
        in_(streams, AddressOf(staging_->data()), target, bytes) {}

  absl::Status Execute() override {
    absl::Status status = out_.Execute();
    return status.ok() ? in_.Execute() : status;
  }

 private:
  std::unique_ptr<device::Arena> staging_;
  CopyThunk out_, in_;
};

// A pattern as words of 1, 2 or 4 bytes. A single word fills everything at once; of several each fills a column of a
// matrix whose rows are the pattern.
class FillThunk final : public device::Thunk {
 public:
  FillThunk(CudaStreams& streams, CUdeviceptr target, uint64_t bytes, std::span<const uint8_t> pattern)
      : streams_(streams), target_(target), bytes_(bytes), pattern_(pattern.begin(), pattern.end()) {
    Shorten();
    const auto fits = [&](size_t word) { return pattern_.size() % word == 0 && target % word == 0; };
    word_ = fits(4) ? 4 : fits(2) && pattern_.size() == 2 ? 2 : 1;
  }

  absl::Status Execute() override {
    if (bytes_ == 0) return absl::OkStatus();
    const Driver& driver = streams_.driver();
    if (pattern_.size() == word_) return driver.Check(FillAll(driver), "cannot fill");
    for (size_t at = 0; at < pattern_.size(); at += word_) {
      if (absl::Status status = driver.Check(FillColumn(driver, at), "cannot fill"); !status.ok()) return status;
    }
    return absl::OkStatus();
  }

 private:
  // To its shortest period, e.g. one byte for zeros.
  void Shorten() {
    for (size_t period = 1; period < pattern_.size(); ++period) {
      if (pattern_.size() % period != 0 ||
          !std::equal(pattern_.begin() + static_cast<std::ptrdiff_t>(period), pattern_.end(), pattern_.begin())) {
        continue;
      }
      pattern_.resize(period);
      return;
    }
  }

  template <typename Word>
  Word WordAt(size_t at) const {
    Word word;
    std::memcpy(&word, pattern_.data() + at, sizeof(word));
    return word;
  }

  CUresult FillAll(const Driver& driver) const {
    if (word_ == 4) return driver.cuMemsetD32Async(target_, WordAt<uint32_t>(0), bytes_ / 4, streams_.used());
    if (word_ == 2) return driver.cuMemsetD16Async(target_, WordAt<uint16_t>(0), bytes_ / 2, streams_.used());
    return driver.cuMemsetD8Async(target_, pattern_[0], bytes_, streams_.used());
  }

  CUresult FillColumn(const Driver& driver, size_t at) const {
    const size_t rows = bytes_ / pattern_.size();
    if (word_ == 4)
      return driver.cuMemsetD2D32Async(target_ + at, pattern_.size(), WordAt<uint32_t>(at), 1, rows, streams_.used());
    return driver.cuMemsetD2D8Async(target_ + at, pattern_.size(), pattern_[at], 1, rows, streams_.used());
  }

  CudaStreams& streams_;
  CUdeviceptr target_;
  uint64_t bytes_;
  std::vector<uint8_t> pattern_;
  size_t word_ = 1;
};

}  // namespace

std::unique_ptr<device::Thunk> MakeLaunch(CudaStreams& streams, KernelCall call) {
  return std::make_unique<LaunchThunk>(streams, std::move(call));
}

std::unique_ptr<device::Thunk> MakeSequence(std::vector<std::unique_ptr<device::Thunk>> thunks) {
  return std::make_unique<SequenceThunk>(std::move(thunks));
}

device::PreparedThunk MakeCopy(CudaStreams& streams, const std::shared_ptr<const Driver>& driver,
                               const std::byte* source, std::byte* target, uint64_t bytes) {
  const CUdeviceptr from = AddressOf(source), to = AddressOf(target);
  if (from == to) return std::make_unique<CopyThunk>(streams, from, to, 0);
  if (from >= to + bytes || to >= from + bytes) return std::make_unique<CopyThunk>(streams, from, to, bytes);
  absl::StatusOr<std::unique_ptr<device::Arena>> staging = AllocateOnDevice(streams, driver, bytes);
  if (!staging.ok()) return staging.status();
  return std::make_unique<OverlappingCopyThunk>(streams, from, to, bytes, *std::move(staging));
}

std::unique_ptr<device::Thunk> MakeFill(CudaStreams& streams, std::byte* target, uint64_t bytes,
                                        std::span<const uint8_t> pattern) {
  return std::make_unique<FillThunk>(streams, AddressOf(target), bytes, pattern);
}

}  // namespace sgd::cuda
