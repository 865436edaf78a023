// Scratch memory of a device's threads, one part for each and one that all share.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "absl/status/status.h"

namespace sgd::cpu {

// Used by one instruction at a time; holds nothing between them. Grows while instructions are prepared, so addresses
// must be requested when they execute.
class ThreadScratch {
 public:
  explicit ThreadScratch(uint32_t threads) : threads_(threads) {}
  uint32_t threads() const { return threads_; }
  // Makes room for so many bytes per thread, and so many for all together. ResourceExhausted when there is no more
  // memory.
  absl::Status Reserve(uint64_t thread_bytes, uint64_t shared_bytes = 0);
  // At least the largest reserved sizes, aligned to 64 bytes.
  std::byte* For(uint32_t thread) const { return memory_.get() + shared_bytes_ + thread * thread_bytes_; }
  std::byte* Shared() const { return memory_.get(); }

 private:
  struct Free {
    void operator()(std::byte* memory) const;
  };

  uint32_t threads_;
  uint64_t thread_bytes_ = 0, shared_bytes_ = 0;
  std::unique_ptr<std::byte, Free> memory_;
};

}  // namespace sgd::cpu
