// A range is one spmd.gather_range or, where a rank has all that it wants, slices of its own tile.
#include "passes/spmd/partition/range_emitter.h"

#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"
#include "passes/sharding/reshard/sharding_state.h"
#include "passes/spmd/partition/ranges.h"

using namespace mlir;
using namespace mlir::sgd;

static RankedTensorType withSize(RankedTensorType type, int64_t dim, int64_t size) {
  SmallVector<int64_t> shape(type.getShape());
  shape[dim] = size;
  return type.clone(shape);
}

bool mlir::sgd::isZero(Value value) {
  auto constant = value.getDefiningOp<arith::ConstantOp>();
  auto splat = constant ? dyn_cast<SplatElementsAttr>(constant.getValue()) : SplatElementsAttr();
  if (!splat) return false;
  OpBuilder builder(value.getContext());
  return splat.getSplatValue<Attribute>() == builder.getZeroAttr(splat.getElementType());
}

int64_t WantedRange::getStart(int64_t index) const { return llvm::divideFloorSigned(scale * index + offset, divisor); }

std::optional<SpreadRange> mlir::sgd::getSpread(const WantedRange& wanted, int64_t spacing) {
  int64_t first = llvm::divideCeilSigned(wanted.offset, spacing);
  int64_t last = llvm::divideFloorSigned(wanted.offset + wanted.length - 1, spacing);
  if (wanted.length == 0 || last < first) return std::nullopt;
  SpreadRange spread{wanted, first * spacing - wanted.offset, 0};
  spread.elements.offset = first;
  spread.elements.scale = wanted.scale / spacing;
  spread.elements.length = last - first + 1;
  spread.high = wanted.length - spread.low - ((last - first) * spacing + 1);
  return spread;
}

// Local ops
// -------------------------------------------------------------------------------------------------------------

Value RangeEmitter::scalar(int64_t value) {
  auto type = RankedTensorType::get({}, builder.getI32Type());
  return arith::ConstantOp::create(builder, loc, DenseElementsAttr::get(type, builder.getI32IntegerAttr(value)));
}

Value RangeEmitter::slice(Value value, int64_t dim, int64_t begin, int64_t size, int64_t step) {
  RankedTensorType type = tensorType(value);
  if (begin == 0 && size == type.getDimSize(dim) && (step == 1 || size <= 1)) return value;
  SmallVector<int64_t> starts(type.getRank(), 0), limits(type.getShape()), strides(type.getRank(), 1);
  starts[dim] = begin;
  limits[dim] = size == 0 ? begin : begin + (size - 1) * step + 1;
  strides[dim] = step;
  return SliceOp::create(builder, loc, withSize(type, dim, size), value, starts, limits, strides);
}

Value RangeEmitter::pad(Value value, int64_t dim, int64_t low, int64_t high, int64_t interior, Value filler) {
  RankedTensorType type = tensorType(value);
  int64_t size = type.getDimSize(dim), dilated = size + std::max<int64_t>(size - 1, 0) * interior;
  if (low == 0 && high == 0 && dilated == size) return value;
  if (!filler) filler = fill(RankedTensorType::get({}, type.getElementType()), Value());
  SmallVector<int64_t> lows(type.getRank(), 0), highs(type.getRank(), 0), interiors(type.getRank(), 0);
  lows[dim] = low;
  highs[dim] = high;
  interiors[dim] = interior;
  return PadOp::create(builder, loc, withSize(type, dim, low + dilated + high), value, filler, lows, highs, interiors);
}

Value RangeEmitter::fill(RankedTensorType type, Value filler) {
  if (filler) return BroadcastInDimOp::create(builder, loc, type, filler, ArrayRef<int64_t>{});
  TypedAttr zero = builder.getZeroAttr(type.getElementType());
  return arith::ConstantOp::create(builder, loc, cast<TypedAttr>(DenseElementsAttr::get(type, zero)));
}

Value RangeEmitter::sliceAt(Value value, int64_t dim, Value start, int64_t size) {
  RankedTensorType type = tensorType(value);
  SmallVector<Value> starts(type.getRank(), scalar(0));
  starts[dim] = start;
  RankedTensorType result = withSize(type, dim, size);
  return DynamicSliceOp::create(builder, loc, result, value, starts, result.getShape());
}

Value RangeEmitter::emitStart(const WantedRange& wanted, int64_t shift) {
  // Never negative before the division, so that rounding to zero is rounding down.
  int64_t offset = wanted.offset + shift * wanted.divisor;
  if (wanted.results.empty() || wanted.scale == 0) return scalar(llvm::divideFloorSigned(offset, wanted.divisor));
  Value start = emitter.getPartitionId(loc, wanted.results);
  if (wanted.scale != 1) start = arith::MulIOp::create(builder, loc, start, scalar(wanted.scale));
  if (offset != 0) start = arith::AddIOp::create(builder, loc, start, scalar(offset));
  if (wanted.divisor != 1) start = DivSIOp::create(builder, loc, start, scalar(wanted.divisor));
  return start;
}

Value RangeEmitter::emitPositions(RankedTensorType type, int64_t dim, Value start, int64_t step) {
  auto indices = RankedTensorType::get(type.getShape(), builder.getI32Type());
  auto splat = [&](Value value) -> Value {
    return BroadcastInDimOp::create(builder, loc, indices, value, ArrayRef<int64_t>{});
  };
  Value positions = IotaOp::create(builder, loc, indices, dim);
  if (step != 1) positions = arith::MulIOp::create(builder, loc, positions, splat(scalar(step)));
  return arith::AddIOp::create(builder, loc, positions, splat(start));
}

Value RangeEmitter::fillOutside(Value range, const WantedRange& wanted, Value filler) {
  RankedTensorType type = tensorType(range);
  // Shifted so that all positions are non-negative: [shift, shift + size) is inside.
  int64_t first = wanted.getStart(0), last = wanted.getStart(getGroupSize(wanted.results) - 1);
  int64_t shift = std::max<int64_t>(0, -std::min(first, last));
  Value positions = emitPositions(type, wanted.dim, emitStart(wanted, shift), wanted.step);
  auto compare = [&](arith::CmpIPredicate predicate, int64_t limit) -> Value {
    Value limits = BroadcastInDimOp::create(builder, loc, positions.getType(), scalar(limit), ArrayRef<int64_t>{});
    return arith::CmpIOp::create(builder, loc, predicate, positions, limits);
  };
  Value inside = compare(arith::CmpIPredicate::slt, shift + wanted.size);
  if (shift != 0) inside = arith::AndIOp::create(builder, loc, inside, compare(arith::CmpIPredicate::sge, shift));
  Value fillers = BroadcastInDimOp::create(builder, loc, type, filler, ArrayRef<int64_t>{});
  return arith::SelectOp::create(builder, loc, inside, range, fillers);
}

// Ranges
// ----------------------------------------------------------------------------------------------------------------

/// The dimension of `from` that a reshape to `to` leaves as dimension `dim`: of its size, with as many elements before
/// it.
static std::optional<int64_t> findDimension(RankedTensorType from, RankedTensorType to, int64_t dim) {
  int64_t before = 1, wanted = 1;
  for (int64_t size : to.getShape().take_front(dim)) wanted *= size;
  for (auto [index, size] : llvm::enumerate(from.getShape())) {
    if (before == wanted && size == to.getDimSize(dim)) return index;
    before *= size;
  }
  return std::nullopt;
}

/// Of a value that every rank holds whole.
Value RangeEmitter::emitWhole(Value value, const WantedRange& wanted) {
  int64_t first = wanted.getStart(0), last = wanted.getStart(getGroupSize(wanted.results) - 1);
  if (first > last) std::swap(first, last);
  // The rest of the operand's last tile is padding.
  value = slice(value, wanted.dim, 0, wanted.size, 1);
  value = pad(value, wanted.dim, -first, last + wanted.getReach() - wanted.size, 0, Value());
  if (first != last) value = sliceAt(value, wanted.dim, emitStart(wanted, -first), wanted.getReach());
  return slice(value, wanted.dim, 0, wanted.length, wanted.step);
}

/// Where every rank's range is at the same position of its own tile: that part; else null. `isBounded`: elements
/// outside of [0, size) must be zero, so that no tile may end in padding.
Value RangeEmitter::emitOwn(Value value, ArrayRef<AxisPart> tiles, const WantedRange& wanted, bool isBounded) {
  int64_t tile = tensorType(value).getDimSize(wanted.dim), begin = wanted.getStart(0);
  bool isAligned = merged(tiles) == merged(wanted.results) && wanted.scale == tile * wanted.divisor &&
                   (!isBounded || tile * getGroupSize(tiles) == wanted.size);
  if (!isAligned || begin < 0 || begin + wanted.getReach() > tile) return Value();
  return slice(value, wanted.dim, begin, wanted.length, wanted.step);
}

void RangeEmitter::explain(Operation* collective, Value value, const WantedRange& wanted, uint64_t bytes,
                           double seconds) {
  Decision decision = cause;
  decision.movement->from = llvm::formatv("tiles of {0}", tensorType(value).getDimSize(wanted.dim));
  decision.movement->to = llvm::formatv("{0} elements of dimension {1}", wanted.length, wanted.dim);
  decision.chosen = collective->getName().stripDialect().str();
  decision.bytes = bytes;
  decision.seconds = seconds;
  setDecisions(collective, decision);
}

/// Where all ranks want the same elements, of a single tile, and are more than two: its rank would have to send them to
/// every other one, a sum to which the others add nothing spreads them for fewer bytes. Else null.
Value RangeEmitter::emitShared(Value value, ArrayRef<AxisPart> tiles, const WantedRange& wanted) {
  bool isShared = wanted.scale == 0 || wanted.results.empty();
  int64_t tile = tensorType(value).getDimSize(wanted.dim), first = wanted.getStart(0), end = first + wanted.getReach();
  if (!isShared || getGroupSize(tiles) <= 2 || first < 0 || end > wanted.size || end == first) return Value();
  int64_t owner = first / tile;
  if ((end - 1) / tile != owner) return Value();
  Value part = slice(value, wanted.dim, first - owner * tile, wanted.length, wanted.step);
  RankedTensorType own = tensorType(part);
  // Bits of f8, which ranks do not add.
  if (isFloat8(own.getElementType()))
    part = arith::BitcastOp::create(builder, loc, own.clone(builder.getI8Type()), part);
  RankedTensorType type = tensorType(part);
  auto floatType = dyn_cast<FloatType>(type.getElementType());
  // x + -0 is x, also where x is -0.
  TypedAttr zero = floatType ? builder.getFloatAttr(floatType, APFloat::getZero(floatType.getFloatSemantics(), true))
                             : cast<TypedAttr>(builder.getZeroAttr(type.getElementType()));
  ReduceKind kind = type.getElementType().isInteger(1) ? ReduceKind::Or : ReduceKind::Add;
  Value nothing = arith::ConstantOp::create(builder, loc, DenseElementsAttr::get(type, zero));
  Value isOwner =
      arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, emitter.getPartitionId(loc, tiles), scalar(owner));
  Value summand = arith::SelectOp::create(
      builder, loc,
      BroadcastInDimOp::create(builder, loc, type.clone(builder.getI1Type()), isOwner, ArrayRef<int64_t>{}), part,
      nothing);
  auto sum =
      spmd::AllReduceOp::create(builder, loc, TypeRange{type}, ValueRange{summand}, kind, emitter.getAxes(tiles));
  uint64_t held = getByteSize(type);
  uint64_t bytes = CostModel::getSentBytes(CollectiveKind::kAllReduce, tiles, held);
  double seconds = emitter.getCost().getCollectiveSeconds(CollectiveKind::kAllReduce, tiles, held);
  explain(sum, value, wanted, bytes, seconds);
  if (type == own) return sum.getResult(0);
  return arith::BitcastOp::create(builder, loc, own, sum.getResult(0));
}

Value RangeEmitter::emitGathered(Value value, ArrayRef<AxisPart> tiles, const WantedRange& wanted) {
  if (Value shared = emitShared(value, tiles, wanted)) return shared;
  RankedTensorType from = tensorType(value), to = withSize(from, wanted.dim, wanted.length);
  auto range = RangeAttr::get(builder.getContext(), wanted.dim, wanted.size, wanted.scale, wanted.offset,
                              wanted.divisor, wanted.step);
  auto gather =
      spmd::GatherRangeOp::create(builder, loc, TypeRange{to}, ValueRange{value}, builder.getArrayAttr({range}),
                                  emitter.getAxes(tiles), emitter.getAxes(wanted.results));
  uint64_t bytes = getSentBytes(emitter.getMesh(), range, from, to, tiles, wanted.results);
  double seconds = emitter.getCost().getCollectiveSeconds(CollectiveKind::kGatherRange, tiles, bytes);
  if (bytes != 0) explain(gather, value, wanted, bytes, seconds);
  return gather.getResult(0);
}

/// Where `value` is made by an op that leaves dimension `wanted.dim` as it is: the range of that op's operand, and the
/// op done to it; else null. `emitOperand` emits the operand's range. `isBounded`: zero must stay zero.
Value RangeEmitter::emitBehind(Value value, WantedRange wanted, bool isBounded,
                               llvm::function_ref<Value(Value, const WantedRange&)> emitOperand) {
  if (auto transpose = value.getDefiningOp<TransposeOp>()) {
    int64_t dim = std::exchange(wanted.dim, transpose.getPermutation()[wanted.dim]);
    Value range = emitOperand(transpose.getInput(), wanted);
    return TransposeOp::create(builder, loc, withSize(tensorType(value), dim, wanted.length), range,
                               transpose.getPermutation());
  }
  if (auto reshape = value.getDefiningOp<ReshapeOp>()) {
    std::optional<int64_t> dim = findDimension(tensorType(reshape.getInput()), tensorType(value), wanted.dim);
    if (!dim) return Value();
    RankedTensorType type = withSize(tensorType(value), std::exchange(wanted.dim, *dim), wanted.length);
    return ReshapeOp::create(builder, loc, type, emitOperand(reshape.getInput(), wanted));
  }
  auto padOp = value.getDefiningOp<PadOp>();
  if (!padOp || padOp.getLow()[wanted.dim] != 0 || padOp.getHigh()[wanted.dim] != 0 ||
      padOp.getInterior()[wanted.dim] != 0 || (isBounded && !isZero(padOp.getValue())))
    return Value();
  Value range = emitOperand(padOp.getInput(), wanted);
  return PadOp::create(builder, loc, withSize(tensorType(value), wanted.dim, wanted.length), range, padOp.getValue(),
                       padOp.getLow(), padOp.getHigh(), padOp.getInterior());
}

Value RangeEmitter::emit(Value value, ArrayRef<AxisPart> tiles, const WantedRange& wanted) {
  if (tiles.empty()) return emitWhole(value, wanted);
  if (Value own = emitOwn(value, tiles, wanted, /*isBounded=*/true)) return own;
  // Ranges of one value made for ops that see it in several layouts are equal: they are gathered once.
  Value behind = emitBehind(value, wanted, /*isBounded=*/true,
                            [&](Value operand, const WantedRange& range) { return emit(operand, tiles, range); });
  if (behind) return behind;
  return emitGathered(value, tiles, wanted);
}

Value RangeEmitter::emitUnbounded(Value value, ArrayRef<AxisPart> tiles, const WantedRange& wanted) {
  const RangeOrigin* origin = emitter.getOrigin(value, wanted.dim);
  if (!origin || wanted.divisor != 1 || origin->results != merged(tiles)) {
    if (Value own = tiles.empty() ? Value() : emitOwn(value, tiles, wanted, /*isBounded=*/false)) return own;
    Value behind = emitBehind(value, wanted, /*isBounded=*/false, [&](Value operand, const WantedRange& range) {
      return emitUnbounded(operand, tiles, range);
    });
    if (behind) return behind;
    Value result = emit(value, tiles, wanted);
    noteOrigin(result, value, tiles, wanted, Value());
    return result;
  }
  WantedRange through = wanted;
  through.size = wanted.size == 0
                     ? 0
                     : std::clamp<int64_t>(origin->offset + origin->step * (wanted.size - 1) + 1, 0, origin->size);
  through.scale *= origin->step;
  through.offset = origin->offset + origin->step * wanted.offset;
  through.step *= origin->step;
  // Copies: emitting may move the note.
  Value source = origin->source, filler = origin->filler;
  AxisParts sourceTiles = origin->tiles;
  Value result = emit(source, sourceTiles, through);
  if (filler) result = fillOutside(result, through, filler);
  noteOrigin(result, source, sourceTiles, through, filler);
  return result;
}

Value RangeEmitter::emitSpread(Value value, ArrayRef<AxisPart> tiles, const WantedRange& wanted, int64_t spacing,
                               Value filler) {
  if (wanted.scale % spacing == 0 || wanted.results.empty()) {
    std::optional<SpreadRange> spread = getSpread(wanted, spacing);
    if (!spread) return fill(withSize(tensorType(value), wanted.dim, wanted.length), filler);
    Value range = emit(value, tiles, spread->elements);
    if (filler) range = fillOutside(range, spread->elements, filler);
    return pad(range, wanted.dim, spread->low, spread->high, spacing - 1, filler);
  }
  // From the element at or before the first position, which follows it at a distance of up to spacing - 1.
  WantedRange elements = wanted;
  elements.length = wanted.length == 0 ? 0 : (wanted.length + spacing - 2) / spacing + 1;
  elements.divisor = spacing;
  Value range = emit(value, tiles, elements);
  if (filler) range = fillOutside(range, elements, filler);
  int64_t spread = std::max<int64_t>((elements.length - 1) * spacing + 1, 0);
  range = pad(range, wanted.dim, 0, wanted.length + spacing - 1 - spread, spacing - 1, filler);
  // The start modulo the spacing, of a dividend made positive on every rank.
  int64_t least = std::min(wanted.getStart(0), wanted.getStart(getGroupSize(wanted.results) - 1));
  int64_t lift = least < 0 ? llvm::divideCeil(-least, spacing) * spacing : 0;
  Value start = RemSIOp::create(builder, loc, emitStart(wanted, lift), scalar(spacing));
  return sliceAt(range, wanted.dim, start, wanted.length);
}

void RangeEmitter::noteOrigin(Value value, Value source, ArrayRef<AxisPart> tiles, const WantedRange& wanted,
                              Value filler) {
  if (value == source || wanted.divisor != 1 || wanted.scale != wanted.step * wanted.length || tiles.empty()) return;
  emitter.setOrigin(value, {source, AxisParts(tiles), merged(wanted.results), wanted.dim, wanted.size, wanted.offset,
                            wanted.step, filler});
}
