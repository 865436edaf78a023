// Tiles that go around a ring of ranks.
#ifndef SGD_PASSES_TIME_RINGS_ROTATION_H
#define SGD_PASSES_TIME_RINGS_ROTATION_H

#include "dialects/spmd/spmd_dialect.h"

namespace mlir::sgd {

/// The ranks of `group` in their order, the first one behind the last.
class Rotation {
 public:
  /// Explanations of rotations are those of `replaced`, the collective whose bytes they send.
  Rotation(Operation* replaced, AxisListAttr group);

  int64_t getNumRanks() const { return ranks; }

  /// The tile of the next rank, of the shape of this one.
  Value rotate(OpBuilder& builder, Value tile) const;

  /// (this rank's number + `steps`) mod ranks, times `scale`: where the block of the rank that is so many ahead begins.
  /// i32.
  Value getPlace(OpBuilder& builder, int64_t steps, int64_t scale) const;

 private:
  Location loc;
  AxisListAttr group;
  Operation* replaced;
  int64_t ranks;
};

/// Which block of a dimension: `number` elements from `begin` on.
Value sliceBlock(OpBuilder& builder, Value value, int64_t dim, Value begin, int64_t number);
Value updateBlock(OpBuilder& builder, Value value, int64_t dim, Value begin, Value block);

/// A value of zeros.
Value createZeros(OpBuilder& builder, Location loc, RankedTensorType type);

}  // namespace mlir::sgd

#endif
