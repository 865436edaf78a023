// Blocks of sharded tensors that are read, changed and written back to where they came from.
#ifndef SGD_PASSES_SPMD_COLLECTIVES_OWNED_BLOCKS_H
#define SGD_PASSES_SPMD_COLLECTIVES_OWNED_BLOCKS_H

#include "dialects/sgd/sgd_dialect.h"
#include "passes/sharding/propagation/mesh_axes.h"

namespace mlir::sgd {

/// A dynamic slice of a sharded dimension gives a value that is partial over the dimension's axes, since one rank of
/// them holds the block. Where the reduced value is used only to compute what a dynamic update writes to the same place
/// of a tensor that is sharded alike, that rank alone needs it: the slice becomes `owner_only`, and nothing is reduced.
/// Returns how many slices changed.
unsigned keepBlocksWithOwners(func::FuncOp function, const MeshAxes& mesh);

}  // namespace mlir::sgd

#endif
