// Numbers that all ranks agree on, seconds above all.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "runtime/comm/control/control.h"

namespace sgd::measure {

// Every rank calls the same functions in the same order, and gets the same numbers.
class Agreement {
 public:
  // Borrows `control`; `timeout` bounds each wait for another rank.
  Agreement(comm::Control& control, absl::Duration timeout) : control_(control), timeout_(timeout) {}

  absl::StatusOr<double> Largest(double number) const;
  absl::StatusOr<uint64_t> Least(uint64_t number) const;

  // `body` once to warm up, then five times, begun by all ranks together: the shortest time until all have ended. At
  // least a nanosecond.
  absl::StatusOr<double> ShortestOfAll(const std::function<absl::Status()>& body) const;

 private:
  comm::Control& control_;
  const absl::Duration timeout_;
};

}  // namespace sgd::measure
