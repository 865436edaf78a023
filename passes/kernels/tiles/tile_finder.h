// Finds groups for tile_group.h: a cluster with the matmuls that feed it large tensors and those that read large ones.
#ifndef SGD_PASSES_KERNELS_TILES_TILE_FINDER_H
#define SGD_PASSES_KERNELS_TILES_TILE_FINDER_H

#include "dialects/fusion/fusion_dialect.h"
#include "dialects/sgd/sgd_dialect.h"

namespace mlir::sgd {

struct FoundGroup {
  SmallVector<Operation*> ops;                               ///< in block order; empty: none
  SmallVector<std::pair<Operation*, Operation*>> originals;  ///< clones among them, and what they are clones of

  /// Takes the clones out of the block again.
  void undo();
};

/// The group around `cluster`. Kernels and matmuls of earlier groups whose large results are cheaper to compute again
/// than to keep are cloned into it: the block changes, its meaning does not. Called for later clusters first, it leaves
/// earlier ones nothing to keep for them.
/// A thread computes `flopsPerByte` operations while a byte goes to memory and comes back.
FoundGroup findTileGroup(fusion::ClusterOp cluster, int64_t flopsPerByte);

/// Whether no op between those of the group, in block order, depends on one of them and feeds another.
bool isConvex(ArrayRef<Operation*> group);

}  // namespace mlir::sgd

#endif
