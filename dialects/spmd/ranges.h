// Gathered ranges of attributes in the plain form that is counted and executed.
#ifndef SGD_DIALECTS_SPMD_RANGES_H
#define SGD_DIALECTS_SPMD_RANGES_H

#include "dialects/sgd/sgd_dialect.h"
#include "runtime/comm/collectives/range_load.h"

namespace mlir::spmd {

/// `range` of tiles of `tile` elements, for results of `length` elements.
::sgd::comm::TileRange getTileRange(mlir::sgd::RangeAttr range, int64_t tile, int64_t length);

/// The bytes that gathering `range` moves, of a tensor of the local type `from` before and `to` after it.
::sgd::comm::RangeLoad getRangeLoad(mlir::sgd::RangeAttr range, ShapedType from, ShapedType to);

}  // namespace mlir::spmd

#endif
