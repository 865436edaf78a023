// A sequence lock, as in shared_wait.cpp; only words that hold bytes are copied.
#include "runtime/comm/shared_memory/shared_bytes.h"

#include <algorithm>
#include <cstring>

namespace sgd::comm {

void SharedBytes::Write(std::string_view bytes) {
  bytes = bytes.substr(0, kMostBytes);
  const uint32_t version = version_.load(std::memory_order_relaxed) | 1;
  version_.store(version, std::memory_order_relaxed);
  std::atomic_thread_fence(std::memory_order_release);
  size_.store(static_cast<uint32_t>(bytes.size()), std::memory_order_relaxed);
  for (size_t at = 0; at < bytes.size(); at += sizeof(uint64_t)) {
    uint64_t word = 0;
    std::memcpy(&word, bytes.data() + at, std::min(sizeof(word), bytes.size() - at));
    words_[at / sizeof(word)].store(word, std::memory_order_relaxed);
  }
  version_.store(version + 1, std::memory_order_release);
}

std::optional<std::string> SharedBytes::Read() const {
  constexpr int kAttempts = 1000;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    const uint32_t version = version_.load(std::memory_order_acquire);
    const size_t size = std::min<size_t>(size_.load(std::memory_order_relaxed), kMostBytes);
    std::string bytes(size, '\0');
    for (size_t at = 0; at < size; at += sizeof(uint64_t)) {
      const uint64_t word = words_[at / sizeof(word)].load(std::memory_order_relaxed);
      std::memcpy(bytes.data() + at, &word, std::min(sizeof(word), size - at));
    }
    std::atomic_thread_fence(std::memory_order_acquire);
    if (version % 2 == 0 && version_.load(std::memory_order_relaxed) == version) return bytes;
  }
  return std::nullopt;
}

}  // namespace sgd::comm
