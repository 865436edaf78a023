// How rank 0 tells the launcher which rank it is to start elsewhere.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>

#include "absl/status/statusor.h"

namespace sgd::train {

// Memory that the launcher shares with the ranks which it forks.
class ReplacementBoard {
 public:
  // ResourceExhausted without memory.
  static absl::StatusOr<std::shared_ptr<ReplacementBoard>> Create();
  ~ReplacementBoard();
  ReplacementBoard(const ReplacementBoard&) = delete;
  ReplacementBoard& operator=(const ReplacementBoard&) = delete;

  // By rank 0, once all ranks have stopped for it.
  void Ask(uint32_t rank) { asked_->store(rank + 1); }
  // By the launcher, once the ranks have ended: the rank that was asked for, once.
  std::optional<uint32_t> Take();

 private:
  explicit ReplacementBoard(std::atomic<uint32_t>* asked) : asked_(asked) {}

  std::atomic<uint32_t>* const asked_;  // the rank plus one; 0: none
};

}  // namespace sgd::train
