// Writes a group as fusion.tiled.
#ifndef SGD_PASSES_KERNELS_TILES_TILE_WRITER_H
#define SGD_PASSES_KERNELS_TILES_TILE_WRITER_H

#include "dialects/fusion/fusion_dialect.h"
#include "passes/kernels/tiles/tile_group.h"

namespace mlir::sgd {

/// Creates the op at the builder's position; its results are the group's outputs in order. The group's own ops stay.
fusion::TiledOp writeTiled(OpBuilder& builder, const TileGroup& group);

}  // namespace mlir::sgd

#endif
