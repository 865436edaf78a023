// How often copies of the state are made in memory, by what they cost.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "runtime/clock/steady_clock.h"
#include "runtime/comm/control/agreements.h"

namespace sgd::train {

// The time that a copy takes of a rank.
struct CopyCost {
  absl::Duration stall;    // of steps
  absl::Duration sending;  // beside them, until it was on the next host; of the copy before
};

// The steps between copies by which stalls take a share of kShare of the time at most, and sending kSendingShare of the
// time between copies. `step` is a step without a copy.
uint64_t StepsBetweenCopies(const CopyCost& cost, absl::Duration step);

// All ranks decide alike.
class CopyIntervals {
 public:
  struct Options {
    uint64_t every = 1;    // the least
    bool by_cost = false;  // whether it may become more
  };

  CopyIntervals(Options options, uint64_t first_step) : options_(options), every_(options.every), last_(first_step) {}

  uint64_t every() const { return every_; }

  // All ranks call it after each copy. Measures now and then, the slowest rank counts. True where copies are from now
  // on clearly rarer or more frequent than was told. Errors as of Agreements.
  absl::StatusOr<bool> Copied(uint64_t steps_done, const CopyCost& cost, comm::Agreements& ranks,
                              absl::Duration deadline);

  // A line about the last decision. `sent_bytes`: by a rank with each copy.
  std::string Text(uint64_t sent_bytes) const;

 private:
  const Options options_;
  uint64_t every_;
  uint64_t told_ = 0;
  uint64_t copies_ = 0;
  uint64_t last_;                   // steps done at the last copy
  absl::Time since_ = SteadyNow();  // the end of that copy
  CopyCost cost_;                   // of the slowest rank
  absl::Duration step_;
};

}  // namespace sgd::train
