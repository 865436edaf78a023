// When to save next, by what a save costs and how often ranks fail.
#pragma once

#include <cstdint>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "runtime/clock/steady_clock.h"
#include "runtime/comm/control/agreements.h"

namespace sgd::train {

// The first save comes early, to be measured. All ranks decide alike.
class SaveIntervals {
 public:
  // `mtbf`: mean time between failures of a rank.
  SaveIntervals(absl::Duration mtbf, uint64_t first_step)
      : mtbf_(mtbf), next_(first_step + kFirst), last_(first_step) {}

  bool IsDue(uint64_t steps_done) const { return steps_done >= next_; }
  // All ranks call it, after a save that has stopped this one for `stall`. Errors as of Agreements.
  absl::Status Saved(uint64_t steps_done, absl::Duration stall, comm::Agreements& ranks, absl::Duration deadline);

 private:
  static constexpr uint64_t kFirst = 10;

  absl::Duration mtbf_;
  uint64_t next_;  // steps done
  uint64_t last_;  // of the last save
  absl::Time since_ = SteadyNow();
};

}  // namespace sgd::train
