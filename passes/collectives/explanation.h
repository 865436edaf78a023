// Explanations survive when collectives merge: those of all of them are kept, in order.
#ifndef SGD_PASSES_COLLECTIVES_EXPLANATION_H
#define SGD_PASSES_COLLECTIVES_EXPLANATION_H

#include "dialects/spmd/spmd_dialect.h"

namespace mlir::sgd {

/// Gives `to` the explanations of all `from`, and their fused location.
void mergeExplanations(Operation* to, ArrayRef<Operation*> from);

}  // namespace mlir::sgd

#endif
