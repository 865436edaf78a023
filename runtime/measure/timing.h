// Seconds that all ranks agree on.
#pragma once

#include <functional>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "runtime/comm/control.h"

namespace sgd::measure {

// Every rank calls the same functions in the same order, and gets the same seconds.
class Agreement {
 public:
  // Borrows `control`; `timeout` bounds each wait for another rank.
  Agreement(comm::Control& control, absl::Duration timeout) : control_(control), timeout_(timeout) {}

  // The largest number of all ranks.
  absl::StatusOr<double> Largest(double number) const;

  // `body` once to warm up, then `repetitions` times, begun by all ranks together: the shortest time until all have
  // ended. At least a nanosecond.
  absl::StatusOr<double> ShortestOfAll(int repetitions, const std::function<absl::Status()>& body) const;

 private:
  comm::Control& control_;
  const absl::Duration timeout_;
};

}  // namespace sgd::measure
