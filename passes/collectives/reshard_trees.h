// All reshards that start from one value, decided together.
#ifndef SGD_PASSES_COLLECTIVES_RESHARD_TREES_H
#define SGD_PASSES_COLLECTIVES_RESHARD_TREES_H

#include "passes/collectives/reshard_costs.h"

namespace mlir::sgd {

/// Reshards of reshards are taken apart: for every value the shardings are found that something other than a reshard
/// uses, and the cheapest way found to make them all, each from the value or from another of them. Returns how many
/// values changed.
unsigned rerouteReshards(func::FuncOp function, ReshardCosts& costs);

}  // namespace mlir::sgd

#endif
