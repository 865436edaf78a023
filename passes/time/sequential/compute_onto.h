// Sums that are added to a running sum as they are computed.
#ifndef SGD_PASSES_TIME_SEQUENTIAL_COMPUTE_ONTO_H
#define SGD_PASSES_TIME_SEQUENTIAL_COMPUTE_ONTO_H

#include "dialects/sgd/sgd_dialect.h"

namespace mlir::sgd {

/// Makes the op of `value` begin with `sum` instead of zeros, if it adds up by `kind`: the result is `value`, with
/// which `sum` is combined then. Null for other values.
Value computeOnto(Value sum, Value value, ReduceKind kind);

}  // namespace mlir::sgd

#endif
