// Helpers for loops that wait for another thread or process without sleeping.
#pragma once

#include <cstdint>

#include "runtime/clock/steady_clock.h"

namespace sgd::comm {

// A wait spins, then yields, then sleeps in slices short enough to notice an abort and the deadline.
inline constexpr int kSpins = 4000;  // 40 to 150 microseconds, by processor
inline constexpr int kSpinsWhenShared = 20;
inline constexpr int kYields = 4;
inline constexpr int64_t kSleepNanoseconds = 10'000'000;

// Tells the processor that this is a loop that waits.
inline void Pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

}  // namespace sgd::comm
