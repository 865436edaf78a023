// Parts of operands and results that one run of a tiled op's body sees.
#ifndef SGD_REFERENCE_TILES_H
#define SGD_REFERENCE_TILES_H

#include "dialects/fusion/fusion_dialect.h"
#include "reference/collectives.h"

namespace mlir::sgd::reference {

/// The body's view of operand `input`, which is `whole`, at the indices `tile` of the loops.
RankTensors readTiles(fusion::TiledOp op, unsigned input, ArrayRef<int64_t> tile, const RankTensors& whole);

/// Puts `values` where `store` says, or adds them to what is there, in the tile at the indices `tile` of `results`.
void storeTiles(fusion::TileStoreOp store, ArrayRef<int64_t> tile, const RankTensors& values, RankTensors& results);

}  // namespace mlir::sgd::reference

#endif
