// Writes gathered ranges of sharded dimensions: what moves elements along a dimension is put on this one primitive.
#ifndef SGD_PASSES_SPMD_PARTITION_RANGE_EMITTER_H
#define SGD_PASSES_SPMD_PARTITION_RANGE_EMITTER_H

#include "passes/spmd/partition/reshard_emitter.h"

namespace mlir::sgd {

/// The range of dimension `dim` (of `size` elements) of a value that each rank wants: with j its linear index over
/// `results`, the elements floor((scale * j + offset) / divisor) + e * step for e in [0, length), zero outside of [0,
/// size).
struct WantedRange {
  int64_t dim = 0;
  int64_t size = 0;
  int64_t length = 0;
  AxisParts results;
  int64_t scale = 0;
  int64_t offset = 0;
  int64_t divisor = 1;
  int64_t step = 1;

  /// The first element on the rank with index `index`.
  int64_t getStart(int64_t index) const;
  /// How far the elements reach: from the first to behind the last one.
  int64_t getReach() const { return length == 0 ? 0 : (length - 1) * step + 1; }
};

/// True for a constant that is zero everywhere.
bool isZero(Value value);

/// Elements `low` positions behind the first position, `high` before the end: what a range of spread elements holds.
struct SpreadRange {
  WantedRange elements;
  int64_t low, high;
};

/// The part of `wanted` (of divisor and step 1) when its positions are those of elements that are `spacing` apart,
/// which must divide wanted.scale; nullopt when no element falls into it.
std::optional<SpreadRange> getSpread(const WantedRange& wanted, int64_t spacing);

/// Emits ops at `builder`'s position for one op that is made local. `cause` ends up in explanations.
class RangeEmitter {
 public:
  RangeEmitter(ReshardEmitter& emitter, OpBuilder& builder, Location loc, Decision cause)
      : emitter(emitter), builder(builder), loc(loc), cause(std::move(cause)) {}

  /// The range `wanted` of `value`, whose dimension is in equal tiles over `tiles` (the last ones may end in padding,
  /// which is not read; no tiles: every rank holds it whole). Sends nothing where the rank holds the range already:
  /// then these are local ops.
  Value emit(Value value, ArrayRef<AxisPart> tiles, const WantedRange& wanted);

  /// The same, but elements outside of [0, wanted.size) may be anything. A value that is a range of another one
  /// (see noteOrigin) is then not needed itself.
  Value emitUnbounded(Value value, ArrayRef<AxisPart> tiles, const WantedRange& wanted);

  /// The range `wanted` (of divisor and step 1) of `value` with its elements `spacing` apart: element p of the spread
  /// dimension is element p / spacing of `value` where that is whole and inside of [0, wanted.size), else `filler`
  /// (null: zero).
  Value emitSpread(Value value, ArrayRef<AxisPart> tiles, const WantedRange& wanted, int64_t spacing, Value filler);

  /// `range`, which is the range `wanted`, with `filler` (a scalar tensor) where its elements are outside of [0, size).
  Value fillOutside(Value range, const WantedRange& wanted, Value filler);

  /// Notes that `value` is, in tiles over wanted.results, a range of `source`, itself in tiles over `tiles`, filled
  /// with `filler` (null: zero) where it reaches outside. Only ranges whose starts are exact multiples can be noted:
  /// others are ignored.
  void noteOrigin(Value value, Value source, ArrayRef<AxisPart> tiles, const WantedRange& wanted, Value filler);

  /// The rank's first element plus `shift`, which must make it non-negative on every rank, as a scalar i32.
  Value emitStart(const WantedRange& wanted, int64_t shift);

  /// Position of each element of `type` along `dim`, as i32: `start` (a scalar i32) + step * index.
  Value emitPositions(RankedTensorType type, int64_t dim, Value start, int64_t step);

  /// `size` elements of dimension `dim` from `begin` on, `step` apart.
  Value slice(Value value, int64_t dim, int64_t begin, int64_t size, int64_t step);

  /// Dimension `dim` with `low` and `high` elements of `filler` (null: zero) added, or removed where negative.
  Value pad(Value value, int64_t dim, int64_t low, int64_t high, int64_t interior, Value filler);

  /// `size` elements of dimension `dim` from the scalar i32 `start` on, which is in range.
  Value sliceAt(Value value, int64_t dim, Value start, int64_t size);

  /// A value full of `filler` (null: zero).
  Value fill(RankedTensorType type, Value filler);

  /// A scalar i32 constant.
  Value scalar(int64_t value);

 private:
  Value emitWhole(Value value, const WantedRange& wanted);
  Value emitOwn(Value value, ArrayRef<AxisPart> tiles, const WantedRange& wanted, bool isBounded);
  Value emitBehind(Value value, WantedRange wanted, bool isBounded,
                   llvm::function_ref<Value(Value, const WantedRange&)> emitOperand);
  Value emitGathered(Value value, ArrayRef<AxisPart> tiles, const WantedRange& wanted);
  Value emitShared(Value value, ArrayRef<AxisPart> tiles, const WantedRange& wanted);
  void explain(Operation* collective, Value value, const WantedRange& wanted, uint64_t bytes, double seconds);

  ReshardEmitter& emitter;
  OpBuilder& builder;
  Location loc;
  Decision cause;
};

}  // namespace mlir::sgd

#endif
