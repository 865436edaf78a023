// Carrying partial values through linear ops, where that saves bytes.
#ifndef SGD_PASSES_SPMD_COLLECTIVES_CARRIED_REDUCTIONS_H
#define SGD_PASSES_SPMD_COLLECTIVES_CARRIED_REDUCTIONS_H

#include "passes/sharding/propagation/mesh_axes.h"
#include "passes/spmd/collectives/reshard_costs.h"

namespace mlir::sgd {

struct CarriedReductions {
  unsigned numMerged = 0;  // pairs of reductions that became one
  unsigned numMoved = 0;   // reductions moved past an op that shrinks the value
};

/// In a function of one block whose values all have shardings, in program order:
///   add(linear(reshard(p)), linear(reshard(q)))  becomes  reshard(add(linear(p), linear(q)))
///   linear(reshard(p))                           becomes  reshard(linear(p))   when that sends less.
/// Only values with one use move, so that nothing is reduced twice.
CarriedReductions carryReductions(func::FuncOp function, const MeshAxes& mesh, ReshardCosts& costs);

}  // namespace mlir::sgd

#endif
