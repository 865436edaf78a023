// The processor time of threads.
#pragma once

#include <time.h>

#include "absl/time/time.h"

namespace sgd {

// That this thread has used.
inline absl::Duration ThreadCpuTime() {
  timespec used = {};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
  return absl::DurationFromTimespec(used);
}

}  // namespace sgd
