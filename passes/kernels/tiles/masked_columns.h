// Columns of a row block that a mask sends to minus infinity before the exponential: they count for nothing.
#ifndef SGD_PASSES_KERNELS_TILES_MASKED_COLUMNS_H
#define SGD_PASSES_KERNELS_TILES_MASKED_COLUMNS_H

#include "passes/kernels/tiles/tile_group.h"

namespace mlir::sgd {

/// Whether the group's results for the rows of `block` are the same when columns from block.columns on are left out.
bool canLeaveOutColumns(const TileGroup& group, const RowBlock& block);

}  // namespace mlir::sgd

#endif
