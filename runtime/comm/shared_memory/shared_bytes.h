// A few bytes in memory that ranks share: one writer, any readers, nobody waits.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace sgd::comm {

class SharedBytes {
 public:
  static constexpr size_t kMostBytes = 1016;

  // By one thread at a time. Longer texts are cut.
  void Write(std::string_view bytes);
  // By anyone. Nothing when the writer was at it at each of many attempts, as one that died within a write is.
  std::optional<std::string> Read() const;

 private:
  // Odd while it is written. Words are atomic, since readers may see them change.
  std::atomic<uint32_t> version_;
  std::atomic<uint32_t> size_;
  std::array<std::atomic<uint64_t>, kMostBytes / 8> words_;
};

}  // namespace sgd::comm
