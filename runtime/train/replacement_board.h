// How ranks tell their launcher which of all ranks must be started elsewhere.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>

#include "absl/status/statusor.h"

namespace sgd::train {

// Memory that a launcher shares with the ranks which it forks.
class ReplacementBoard {
 public:
  enum class Place : uint8_t { kOtherCores, kOtherHost };
  struct Request {
    uint32_t rank = 0;
    Place place = Place::kOtherCores;
    bool operator==(const Request&) const = default;
  };

  // ResourceExhausted without memory.
  static absl::StatusOr<std::shared_ptr<ReplacementBoard>> Create();
  ~ReplacementBoard();
  ReplacementBoard(const ReplacementBoard&) = delete;
  ReplacementBoard& operator=(const ReplacementBoard&) = delete;

  // A request as a number; 0 is none.
  static uint64_t Encode(const std::optional<Request>& request);
  static std::optional<Request> Decode(uint64_t number);

  // By ranks, which have agreed on it and stop.
  void Ask(const std::optional<Request>& request) { asked_->store(Encode(request)); }
  // By the launcher, once the ranks have ended: what they have asked for, once.
  std::optional<Request> Take() { return Decode(asked_->exchange(0)); }

 private:
  explicit ReplacementBoard(std::atomic<uint64_t>* asked) : asked_(asked) {}

  std::atomic<uint64_t>* const asked_;
};

}  // namespace sgd::train
