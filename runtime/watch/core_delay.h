// For how long threads of this process were ready to run and had no core, by the kernel's account (schedstat), while
// they did not wait for other ranks.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/time/time.h"
#include "runtime/comm/control/unique_fd.h"

namespace sgd::watch {

// Nanoseconds of a thread.
struct ThreadTime {
  int64_t on_core = 0, delay = 0;
};

// The longest delay of threads that have had a core for a tenth of the time of the first one, or longer. Threads for
// signals and deadlines hardly run, and no step waits for them.
int64_t LongestDelay(const std::vector<ThreadTime>& threads);

// Belongs to the thread that makes it, which executes steps. Looks at it and at the other threads that there were then,
// the first 64 at most.
class CoreDelay {
 public:
  CoreDelay();

  // Around each wait for other ranks: what delays this thread in between is not counted. Only where the last look is
  // long enough ago.
  void BeginWait();
  void EndWait();

  // LongestDelay since the last call. Looks take 0.2 % of the time at most: what they have not seen is in a later
  // answer. Zero where the kernel keeps no account.
  absl::Duration Take();
  // For how long this thread had a core since the last call, without waits for other ranks.
  absl::Duration TakeOnCore();

 private:
  struct Thread {
    comm::UniqueFd file;
    ThreadTime first;   // as of the construction
    ThreadTime seen;    // as of the last look
    int64_t delay = 0;  // since the last answer
  };
  // When to look again, after a look that began at a time.
  struct Pace {
    int64_t next = 0;
    int64_t cost = INT64_MAX / 10'000;
    void Looked(int64_t begin, int64_t end);
  };
  static ThreadTime Read(const Thread& thread);
  // The delay since the look before.
  static int64_t Look(Thread& thread);

  std::vector<Thread> threads_;  // the first is this one
  std::vector<ThreadTime> times_;
  Pace own_, all_;
  // Of this thread on a core, in nanoseconds.
  int64_t on_core_ = 0;      // at the last call of TakeOnCore
  int64_t wait_begin_ = 0;   // as the last wait began
  int64_t in_waits_ = 0;     // since the last call of TakeOnCore
  bool is_waiting_ = false;  // and the begin of the wait was looked at
};

}  // namespace sgd::watch
