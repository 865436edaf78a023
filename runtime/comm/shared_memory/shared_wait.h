// A rank's wait in memory that it shares with others: one writer, any readers.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <optional>
#include <string>

#include "absl/types/span.h"
#include "runtime/comm/control/blame.h"

namespace sgd::comm {

class SharedWait {
 public:
  static constexpr uint32_t kMaxRanks = 1024;

  // By its rank. Descriptions are cut to 255 bytes.
  void Write(const std::string& description, absl::Span<const uint32_t> awaited);
  void Clear() { Write("", {}); }
  // By any rank; nothing without a wait.
  std::optional<RankWait> Read() const;

 private:
  static constexpr size_t kTextWords = 32;
  // Odd while it is written. Words are atomic, since readers may see them change.
  std::atomic<uint32_t> version_;
  std::array<std::atomic<uint64_t>, kMaxRanks / 64> awaited_;  // a bit for each rank
  std::array<std::atomic<uint64_t>, kTextWords> text_;
};

}  // namespace sgd::comm
