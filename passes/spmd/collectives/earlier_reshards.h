// Reshards of what is computed from smaller values.
#ifndef SGD_PASSES_SPMD_COLLECTIVES_EARLIER_RESHARDS_H
#define SGD_PASSES_SPMD_COLLECTIVES_EARLIER_RESHARDS_H

#include "passes/sharding/propagation/mesh_axes.h"
#include "passes/spmd/collectives/reshard_costs.h"

namespace mlir::sgd {

/// A reshard of a value that a few elementwise ops compute from operands whose own reshards send fewer bytes becomes
/// these, and the ops are computed again behind them: int8 weights travel as int8 and are converted and scaled by every
/// rank. An operand's reshard that another op of the block needs too sends nothing more: a table that is looked up in
/// and, transposed, multiplied with is gathered once. Returns how many were replaced.
unsigned reshardOperands(func::FuncOp function, const MeshAxes& mesh, ReshardCosts& costs);

}  // namespace mlir::sgd

#endif
