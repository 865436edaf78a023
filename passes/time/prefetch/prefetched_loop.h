// The change of a loop whose gathers start an iteration ahead.
#ifndef SGD_PASSES_TIME_PREFETCH_PREFETCHED_LOOP_H
#define SGD_PASSES_TIME_PREFETCH_PREFETCHED_LOOP_H

#include "passes/time/prefetch/gather_cone.h"

namespace mlir::sgd {

/// `loop`, of at least two known trips, with the gathers of `cones` before it for its first iteration, in its body for
/// the next one, right before `place`, and its last iteration behind it. `loop` is replaced.
void prefetch(WhileOp loop, ArrayRef<GatherCone> cones, Operation* place);

}  // namespace mlir::sgd

#endif
