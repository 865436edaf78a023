// The clock of deadlines and step times.
#pragma once

#include <time.h>

#include "absl/time/time.h"

namespace sgd::exec {

// Steady, in nanoseconds: absl::Now follows the wall clock, which may jump.
inline absl::Time SteadyNow() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return absl::TimeFromTimespec(now);
}

}  // namespace sgd::exec
