// All reshards that start from one value, decided together.
#ifndef SGD_PASSES_SPMD_COLLECTIVES_RESHARD_TREES_H
#define SGD_PASSES_SPMD_COLLECTIVES_RESHARD_TREES_H

#include "passes/spmd/collectives/reshard_costs.h"

namespace mlir::sgd {

/// Plans all reshards of a value together: finds the shardings of it that ops other than reshards use, and the cheapest
/// way to make them all, each from the value or from another of them. Returns how many
/// values changed.
unsigned rerouteReshards(func::FuncOp function, ReshardCosts& costs);

}  // namespace mlir::sgd

#endif
