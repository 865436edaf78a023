// The clock of deadlines, waits and measured times. absl::Now is the wall clock, which an administrator or NTP may set
// back or forward: only the times of files follow it.
#pragma once

#include <time.h>

#include <cstdint>

#include "absl/time/time.h"

namespace sgd {

// Nanoseconds since the host was started.
inline int64_t SteadyNanoseconds() {
  timespec now = {};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

// The same as a point in time, to be compared with others of this clock alone.
inline absl::Time SteadyNow() { return absl::FromUnixNanos(SteadyNanoseconds()); }

}  // namespace sgd
