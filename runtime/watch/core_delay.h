// For how long threads of this process were ready to run and had no core, by the kernel's account (schedstat).
#pragma once

#include <vector>

#include "absl/time/time.h"
#include "runtime/comm/control/unique_fd.h"

namespace sgd::watch {

// Belongs to one thread. Looks at the threads that there were when it was made, the first 64 at most.
class CoreDelay {
 public:
  CoreDelay();

  // The most that a thread was held up since the last call. Zero where the kernel keeps no account, and where the last
  // look was so recent that another one would cost more than 0.1 % of the time: it is in a later answer then.
  absl::Duration Take();

 private:
  struct Thread {
    comm::UniqueFd file;
    int64_t nanoseconds = 0;
  };

  std::vector<Thread> threads_;
  int64_t next_look_ = 0;
  int64_t cost_ = INT64_MAX / 10'000;  // nanoseconds of a look
};

}  // namespace sgd::watch
