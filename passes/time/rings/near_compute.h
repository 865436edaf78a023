// Whether a collective stands between two matmuls, so that one of them waits for it.
#ifndef SGD_PASSES_TIME_RINGS_NEAR_COMPUTE_H
#define SGD_PASSES_TIME_RINGS_NEAR_COMPUTE_H

#include "dialects/sgd/sgd_dialect.h"

namespace mlir::sgd {

/// Whether `value` comes out of a matmul, a loop or a collective of its block within a few dozen ops. What does not,
/// such as a parameter, can be gathered long before it is needed.
bool isComputedLate(Value value);

/// Whether a matmul, a loop or a collective of the block reads `value`, or what a few dozen ops make of it. What none
/// does, such as a gradient, can be reduced long after it is computed.
bool isNeededSoon(Value value);

}  // namespace mlir::sgd

#endif
