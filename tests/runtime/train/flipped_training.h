// Trains with a guard while a bit of one rank's state is flipped from outside, as a fault of its memory would.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "runtime/train/job.h"
#include "runtime/train/session.h"
#include "runtime/train/train_observer.h"

namespace sgd::train {

struct Flip {
  uint32_t rank = 0;
  size_t input = 0;   // of the program; carried
  uint64_t bit = 0;   // of the rank's shard
  uint64_t bits = 1;  // how many, of one byte
  uint64_t step = 0;  // before which they flip
  // As the step begins; otherwise while the state is at rest.
  bool is_within = false;
};

// The outcome by rank. `observer` is rank 0's.
std::vector<absl::Status> TrainWithFlip(const Job& job, const std::optional<Flip>& flip, TrainObserver& observer);

}  // namespace sgd::train
