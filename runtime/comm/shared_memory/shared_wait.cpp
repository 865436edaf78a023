// A sequence lock: readers read again when the version has changed meanwhile.
#include "runtime/comm/shared_memory/shared_wait.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace sgd::comm {

void SharedWait::Write(const std::string& description, absl::Span<const uint32_t> awaited) {
  const uint32_t version = version_.load(std::memory_order_relaxed);
  version_.store(version + 1, std::memory_order_relaxed);
  std::atomic_thread_fence(std::memory_order_release);
  std::array<uint64_t, kMaxRanks / 64> bits = {};
  for (uint32_t rank : awaited) bits[rank % kMaxRanks / 64] |= uint64_t{1} << rank % 64;
  for (size_t i = 0; i < bits.size(); ++i) awaited_[i].store(bits[i], std::memory_order_relaxed);
  std::array<uint64_t, kTextWords> words = {};
  std::memcpy(words.data(), description.data(), std::min(description.size(), sizeof(words) - 1));
  for (size_t i = 0; i < words.size(); ++i) text_[i].store(words[i], std::memory_order_relaxed);
  version_.store(version + 2, std::memory_order_release);
}

std::optional<RankWait> SharedWait::Read() const {
  constexpr int kAttempts = 1000;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    const uint32_t version = version_.load(std::memory_order_acquire);
    std::array<uint64_t, kMaxRanks / 64> bits = {};
    std::array<uint64_t, kTextWords> words = {};
    for (size_t i = 0; i < bits.size(); ++i) bits[i] = awaited_[i].load(std::memory_order_relaxed);
    for (size_t i = 0; i < words.size(); ++i) words[i] = text_[i].load(std::memory_order_relaxed);
    std::atomic_thread_fence(std::memory_order_acquire);
    if (version % 2 != 0 || version_.load(std::memory_order_relaxed) != version) continue;
    RankWait wait;
    for (uint32_t word = 0; word < bits.size(); ++word) {
      for (uint64_t left = bits[word]; left != 0; left &= left - 1)
        wait.awaited.push_back(word * 64 + static_cast<uint32_t>(std::countr_zero(left)));
    }
    if (wait.awaited.empty()) return std::nullopt;
    char text[sizeof(words)];
    std::memcpy(text, words.data(), sizeof(text));
    wait.description.assign(text, strnlen(text, sizeof(text) - 1));
    return wait;
  }
  return std::nullopt;
}

}  // namespace sgd::comm
