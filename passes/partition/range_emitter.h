// Writes gathered ranges of sharded dimensions: what moves elements along a dimension is put on this one primitive.
#ifndef SGD_PASSES_PARTITION_RANGE_EMITTER_H
#define SGD_PASSES_PARTITION_RANGE_EMITTER_H

#include "passes/partition/reshard_emitter.h"

namespace mlir::sgd {

/// What a rank wants of dimension `dim` (of `size` elements) of a value: with j its linear index over `results`, the
/// elements floor((scale * j + offset) / divisor) + e * step for e in [0, length), zero outside of [0, size).
struct WantedRange {
  int64_t dim = 0;
  int64_t size = 0;
  int64_t length = 0;
  AxisParts results;
  int64_t scale = 0;
  int64_t offset = 0;
  int64_t divisor = 1;
  int64_t step = 1;
};

/// The range `wanted` of `value`, whose dimension lies in equal tiles over `tiles` (the last ones may end in padding,
/// which is not read; no tiles: every rank holds it whole). Nothing is sent where the rank has what it wants: then
/// these are local ops. `reason` ends up in the explanation.
Value emitRange(ReshardEmitter& emitter, OpBuilder& builder, Location loc, Value value, ArrayRef<AxisPart> tiles,
                const WantedRange& wanted, StringRef reason);

}  // namespace mlir::sgd

#endif
