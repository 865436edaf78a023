// A loop over layers as one loop for each range of them.
#ifndef SGD_PASSES_TIME_LAYERS_SPLIT_LOOP_H
#define SGD_PASSES_TIME_LAYERS_SPLIT_LOOP_H

#include "passes/graph/loops/layer_loop.h"
#include "passes/time/layers/row_pieces.h"

namespace mlir::sgd {

/// Replaces `layers`, a loop of the function of `pieces`, by loops over `ranges` of its rows, in the order of its
/// trips: stacked values are cut, and each loop starts from what the one before it has carried. A range of one row is
/// no loop.
void splitLoop(const LayerLoop& layers, const RowRanges& ranges, RowPieces& pieces);

}  // namespace mlir::sgd

#endif
