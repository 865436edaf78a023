// How long a rank waits for others within a step before it takes them for lost.
#pragma once

#include <algorithm>

#include "absl/time/time.h"

namespace sgd::exec {

// The deadline, and less once steps have shown how long they take: all ranks do the same steps, so one that is late by
// many of them makes no progress. Between steps of one thread.
class WaitLimit {
 public:
  explicit WaitLimit(absl::Duration deadline) : deadline_(deadline) {}

  absl::Duration value() const {
    if (steps_ < kLeastSteps || has_delay_) return deadline_;
    return std::min(deadline_, std::max(kLeast, kSteps * longest_));
  }

  // So long after the step before, another one begins.
  void StepAfter(absl::Duration interval) {
    ++steps_;
    longest_ = std::max(longest_, interval);
    has_delay_ = false;
  }
  // Ranks do more than steps before the next one, which may take some of them longer than others.
  void AllowDelay() { has_delay_ = true; }

 private:
  // Longer than systems take to swap, to read a slow disk or to move a virtual machine.
  static constexpr absl::Duration kLeast = absl::Seconds(20);
  static constexpr int kSteps = 20;
  static constexpr int kLeastSteps = 3;

  const absl::Duration deadline_;
  absl::Duration longest_;
  int steps_ = 0;
  bool has_delay_ = false;
};

}  // namespace sgd::exec
