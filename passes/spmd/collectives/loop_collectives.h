// Moves communication that need not happen in every iteration out of loops.
#ifndef SGD_PASSES_SPMD_COLLECTIVES_LOOP_COLLECTIVES_H
#define SGD_PASSES_SPMD_COLLECTIVES_LOOP_COLLECTIVES_H

#include "passes/sharding/propagation/mesh_axes.h"
#include "passes/spmd/collectives/reshard_costs.h"

namespace mlir::sgd {

/// An iter_arg that the body only adds reduced values to, or writes as blocks, and reads nowhere else, becomes partial
/// itself, and its result is reduced once, after the loop. Its initial value counts on one rank of each group. An
/// iter_arg that is sharded along the axes of the reduction is whole on each rank meanwhile; a rank may hold
/// `heldBytes` more for that in a loop. Returns how many iter_args changed. All values have shardings.
unsigned reduceAfterLoops(func::FuncOp function, const MeshAxes& mesh, int64_t heldBytes);

/// Bytes of a rank's shard of a tensor of `type`.
int64_t getLocalBytes(RankedTensorType type, MeshAttr mesh);

/// A reshard of what a loop leaves as it is goes before the loop, as a iter_arg of its own: it is there through all
/// iterations, so at most `heldBytes` of a rank are kept so for a loop, largest savings first. Returns how many moved.
unsigned hoistReshards(func::FuncOp function, ReshardCosts& costs, int64_t heldBytes);

/// A loop that reads blocks of what it leaves as it is, at run-time places of a sharded dimension, sends each block as
/// it is read. Where the whole costs less than the blocks of all iterations, it is gathered once, before the loop, if a
/// rank then holds at most `heldBytes` more for a loop. Returns how many slices read what was gathered.
unsigned gatherBeforeLoops(func::FuncOp function, const MeshAxes& mesh, ReshardCosts& costs, int64_t heldBytes);

}  // namespace mlir::sgd

#endif
