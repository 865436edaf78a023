// Either one spmd.gather_range or, where a rank has all that it wants, slices of its own tile.
#include "passes/partition/range_emitter.h"

#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"
#include "passes/partition/ranges.h"
#include "passes/partition/sharding_state.h"

using namespace mlir;
using namespace mlir::sgd;

namespace {
/// One range of one value.
class RangeEmitter {
 public:
  RangeEmitter(ReshardEmitter& emitter, OpBuilder& builder, Location loc, const WantedRange& wanted)
      : emitter(emitter), builder(builder), loc(loc), wanted(wanted) {}

  Value emitWhole(Value value);
  Value emitOwn(Value value, ArrayRef<AxisPart> tiles);
  Value emitGathered(Value value, ArrayRef<AxisPart> tiles, StringRef reason);

 private:
  int64_t getStart(int64_t index) const {
    return llvm::divideFloorSigned(wanted.scale * index + wanted.offset, wanted.divisor);
  }
  int64_t getReach() const { return wanted.length == 0 ? 0 : (wanted.length - 1) * wanted.step + 1; }
  RankedTensorType withSize(Value value, int64_t size) const;
  Value slice(Value value, int64_t begin, int64_t size, int64_t step);
  Value pad(Value value, int64_t low, int64_t high);
  Value emitStart(int64_t shift);

  ReshardEmitter& emitter;
  OpBuilder& builder;
  Location loc;
  const WantedRange& wanted;
};
}  // namespace

RankedTensorType RangeEmitter::withSize(Value value, int64_t size) const {
  auto type = cast<RankedTensorType>(value.getType());
  SmallVector<int64_t> shape(type.getShape());
  shape[wanted.dim] = size;
  return type.clone(shape);
}

/// `size` elements from `begin` on, `step` apart.
Value RangeEmitter::slice(Value value, int64_t begin, int64_t size, int64_t step) {
  auto type = cast<RankedTensorType>(value.getType());
  SmallVector<int64_t> starts(type.getRank(), 0), limits(type.getShape()), strides(type.getRank(), 1);
  starts[wanted.dim] = begin;
  limits[wanted.dim] = size == 0 ? begin : begin + (size - 1) * step + 1;
  strides[wanted.dim] = step;
  if (llvm::all_of(starts, [](int64_t start) { return start == 0; }) && limits == type.getShape() && step == 1)
    return value;
  return SliceOp::create(builder, loc, withSize(value, size), value, starts, limits, strides);
}

/// Zeros on both sides; negative amounts cut.
Value RangeEmitter::pad(Value value, int64_t low, int64_t high) {
  if (low == 0 && high == 0) return value;
  auto type = cast<RankedTensorType>(value.getType());
  auto scalar = RankedTensorType::get({}, type.getElementType());
  Value zero = arith::ConstantOp::create(
      builder, loc, cast<TypedAttr>(DenseElementsAttr::get(scalar, builder.getZeroAttr(type.getElementType()))));
  SmallVector<int64_t> lows(type.getRank(), 0), highs(type.getRank(), 0), interiors(type.getRank(), 0);
  lows[wanted.dim] = low;
  highs[wanted.dim] = high;
  return PadOp::create(builder, loc, withSize(value, type.getDimSize(wanted.dim) + low + high), value, zero, lows,
                       highs, interiors);
}

/// The rank's start plus `shift`, which makes it non-negative on all ranks, as a scalar i32.
Value RangeEmitter::emitStart(int64_t shift) {
  auto scalar = RankedTensorType::get({}, builder.getI32Type());
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantOp::create(builder, loc, DenseElementsAttr::get(scalar, builder.getI32IntegerAttr(value)));
  };
  Value start = emitter.getPartitionId(loc, wanted.results);
  if (wanted.scale != 1) start = arith::MulIOp::create(builder, loc, start, constant(wanted.scale));
  // Never negative here, so that the division that rounds to zero rounds down.
  if (int64_t offset = wanted.offset + shift * wanted.divisor; offset != 0)
    start = arith::AddIOp::create(builder, loc, start, constant(offset));
  if (wanted.divisor != 1) start = DivSIOp::create(builder, loc, start, constant(wanted.divisor));
  return start;
}

/// Of a value that every rank holds whole.
Value RangeEmitter::emitWhole(Value value) {
  int64_t first = getStart(0), last = getStart(getGroupSize(wanted.results) - 1);
  if (first > last) std::swap(first, last);
  // What is left of the operand's last tile is no element.
  value = slice(value, 0, wanted.size, 1);
  value = pad(value, -first, last + getReach() - wanted.size);
  if (first == last) return slice(value, 0, wanted.length, wanted.step);
  auto type = cast<RankedTensorType>(value.getType());
  auto scalar = RankedTensorType::get({}, builder.getI32Type());
  Value zero = arith::ConstantOp::create(builder, loc, DenseElementsAttr::get(scalar, builder.getI32IntegerAttr(0)));
  SmallVector<Value> starts(type.getRank(), zero);
  starts[wanted.dim] = emitStart(-first);
  SmallVector<int64_t> sizes(type.getShape());
  sizes[wanted.dim] = getReach();
  value = DynamicSliceOp::create(builder, loc, withSize(value, getReach()), value, starts, sizes);
  return slice(value, 0, wanted.length, wanted.step);
}

/// Where every rank's range lies at the same place inside of its own full tile: that part; else null.
Value RangeEmitter::emitOwn(Value value, ArrayRef<AxisPart> tiles) {
  int64_t tile = cast<RankedTensorType>(value.getType()).getDimSize(wanted.dim);
  bool isAligned = merged(tiles) == merged(wanted.results) && wanted.scale == tile * wanted.divisor &&
                   tile * getGroupSize(tiles) == wanted.size;
  int64_t begin = getStart(0);
  if (!isAligned || begin < 0 || begin + getReach() > tile) return Value();
  return slice(value, begin, wanted.length, wanted.step);
}

Value RangeEmitter::emitGathered(Value value, ArrayRef<AxisPart> tiles, StringRef reason) {
  auto from = cast<RankedTensorType>(value.getType());
  RankedTensorType to = withSize(value, wanted.length);
  auto range = RangeAttr::get(builder.getContext(), wanted.dim, wanted.size, wanted.scale, wanted.offset,
                              wanted.divisor, wanted.step);
  auto gather =
      spmd::GatherRangeOp::create(builder, loc, TypeRange{to}, ValueRange{value}, builder.getArrayAttr({range}),
                                  emitter.getAxes(tiles), emitter.getAxes(wanted.results));
  uint64_t bytes = getSentBytes(emitter.getMesh(), range, from, to, tiles, wanted.results);
  double seconds = emitter.getCost().getCollectiveSeconds(CollectiveKind::kGatherRange, tiles, bytes);
  std::string text = llvm::formatv(
      "{0}: tiles of {1} -> {2} elements along dimension {3}: step 1 of 1: gather_range, {4} bytes sent, {5:f1} us",
      reason, from.getDimSize(wanted.dim), wanted.length, wanted.dim, bytes, seconds * 1e6);
  gather->setAttr(kExplainAttr, builder.getStrArrayAttr({text}));
  return gather.getResult(0);
}

Value mlir::sgd::emitRange(ReshardEmitter& emitter, OpBuilder& builder, Location loc, Value value,
                           ArrayRef<AxisPart> tiles, const WantedRange& wanted, StringRef reason) {
  RangeEmitter range(emitter, builder, loc, wanted);
  if (tiles.empty()) return range.emitWhole(value);
  if (Value own = range.emitOwn(value, tiles)) return own;
  return range.emitGathered(value, tiles, reason);
}
