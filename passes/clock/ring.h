// Rings: ranks compute with a block while the next one travels. No IR; in seconds.
#ifndef SGD_PASSES_CLOCK_RING_H
#define SGD_PASSES_CLOCK_RING_H

#include <cstdint>

#include "passes/clock/rank_clock.h"

namespace mlir::sgd {

/// `steps` steps that compute for `compute` each; the block of the next one takes `exchange` to arrive.
inline double getRingSeconds(int64_t steps, double compute, double exchange) {
  RankClock clock;
  for (int64_t step = 1; step < steps; ++step) {
    double arrival = clock.start(exchange).end;
    clock.run(compute);
    clock.waitUntil(arrival);
  }
  clock.run(compute);
  return clock.getNow();
}

}  // namespace mlir::sgd

#endif
