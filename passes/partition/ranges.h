// Gathered ranges between attributes and the plain form that is counted and executed.
#ifndef SGD_PASSES_PARTITION_RANGES_H
#define SGD_PASSES_PARTITION_RANGES_H

#include "dialects/sgd/sgd_dialect.h"
#include "passes/cost/cost_model.h"

namespace mlir::sgd {

/// `range` of tiles of `tile` elements, for results of `length` elements.
TileRange getTileRange(RangeAttr range, int64_t tile, int64_t length);

/// The bytes that gathering `range` moves, of a tensor of the local type `from` before and `to` after it.
RangeLoad getRangeLoad(RangeAttr range, ShapedType from, ShapedType to);

/// Bytes that the rank of `mesh` then sends which sends most; `tiles` and `results` order the ranks' tiles and results.
uint64_t getSentBytes(MeshAttr mesh, RangeAttr range, ShapedType from, ShapedType to, ArrayRef<AxisPart> tiles,
                      ArrayRef<AxisPart> results);

}  // namespace mlir::sgd

#endif
