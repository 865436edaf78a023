// All reshards that start from one value, decided together.
#ifndef SGD_PASSES_COLLECTIVES_RESHARD_TREES_H
#define SGD_PASSES_COLLECTIVES_RESHARD_TREES_H

#include "passes/collectives/reshard_costs.h"

namespace mlir::sgd {

/// Reshards of reshards are taken apart: for every value the shardings are found that something other than a reshard uses, and the
/// cheapest of: each straight from the value, or one of them first and the others from there. Returns how many values changed.
unsigned rerouteReshards(func::FuncOp function, ReshardCosts &costs);

}  // namespace mlir::sgd

#endif
