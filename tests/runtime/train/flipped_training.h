// Trains with a guard while a bit of one rank's state is flipped from outside, as a fault of its memory would.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "runtime/train/job.h"
#include "runtime/train/session.h"
#include "runtime/train/train_observer.h"
#include "tests/runtime/train/gradient_flipper.h"

namespace sgd::train {

struct Flip {
  uint32_t rank = 0;
  size_t input = 0;   // of the program; carried
  uint64_t bit = 0;   // of the rank's shard
  uint64_t bits = 1;  // how many, of one byte
  uint64_t step = 0;  // before which they flip
  // As the step begins; otherwise while the state is at rest.
  bool is_within = false;
  // Flips a gradient instead, the one that `input` draws, in a step that is not directly behind a check: such a step
  // has the guard as its observer.
  std::optional<GradientPart> gradient = std::nullopt;
};

// Checksums of the state by rank, step since the first, and tensor of Job::carry. Steps that a guard repeats are not in
// it.
using StateSums = std::vector<std::vector<std::vector<uint64_t>>>;

// The outcome by rank. `observer` is rank 0's; `sums` is filled unless it is null.
std::vector<absl::Status> TrainWithFlip(const Job& job, const std::optional<Flip>& flip, TrainObserver& observer,
                                        StateSums* sums = nullptr);

}  // namespace sgd::train
