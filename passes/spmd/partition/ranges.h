// The bytes that ranks send when they gather ranges.
#ifndef SGD_PASSES_SPMD_PARTITION_RANGES_H
#define SGD_PASSES_SPMD_PARTITION_RANGES_H

#include "dialects/spmd/ranges.h"
#include "passes/cost/cost_model.h"

namespace mlir::sgd {

using spmd::getRangeLoad;
using spmd::getTileRange;

/// Bytes that the rank of `mesh` then sends which sends most; `tiles` and `results` order the ranks' tiles and results.
uint64_t getSentBytes(MeshAttr mesh, RangeAttr range, ShapedType from, ShapedType to, ArrayRef<AxisPart> tiles,
                      ArrayRef<AxisPart> results);

}  // namespace mlir::sgd

#endif
