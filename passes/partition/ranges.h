// Gathered ranges between attributes and the plain form that is counted and executed.
#ifndef SGD_PASSES_PARTITION_RANGES_H
#define SGD_PASSES_PARTITION_RANGES_H

#include "dialects/sgd/sgd_dialect.h"
#include "passes/cost/cost_model.h"

namespace mlir::sgd {

/// `range` of tiles of `tile` elements, for results of `length` elements.
TileRange getTileRange(RangeAttr range, int64_t tile, int64_t length);

/// Adds to sent[r] the bytes that rank r of `mesh` sends when ranges of a tensor are gathered whose local type is
/// `from` before and `to` after it; `tiles` and `results` order the ranks' tiles and results.
void addSentBytes(MeshAttr mesh, RangeAttr range, ShapedType from, ShapedType to, ArrayRef<AxisPart> tiles,
                  ArrayRef<AxisPart> results, std::vector<uint64_t>& sent);

/// The most that a rank then sends.
uint64_t getSentBytes(MeshAttr mesh, RangeAttr range, ShapedType from, ShapedType to, ArrayRef<AxisPart> tiles,
                      ArrayRef<AxisPart> results);

}  // namespace mlir::sgd

#endif
