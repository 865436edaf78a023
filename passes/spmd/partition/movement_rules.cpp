// Along a sharded dimension, a rank's part of the result is a range of the operand: which one follows from global
// sizes alone, so that tiles may be uneven. Padding of results is left as it comes.
#include "passes/spmd/partition/local_rules.h"

#include "dialects/sgd/placement_hints.h"
#include "passes/sharding/reshard/sharding_state.h"
#include "passes/spmd/partition/explain_movement.h"
#include "passes/spmd/partition/range_emitter.h"

using namespace mlir;
using namespace mlir::sgd;

namespace {
/// The op's sharding, and where its replacement is written.
class MovementEmitter {
 public:
  MovementEmitter(const LocalisedOp& localised, ReshardEmitter& emitter)
      : localised(localised),
        emitter(emitter),
        builder(localised.op),
        ranges(emitter, builder, localised.op->getLoc(), explainMovement(localised.op)),
        resultState(getShardState(emitter.getMesh(), getSharding(localised.globalResults[0]))) {}

  /// Axes of dimension `dim` of operand `operand`.
  AxisParts getTiles(unsigned operand, int64_t dim) const {
    return getShardState(emitter.getMesh(), getSharding(localised.globalOperands[operand])).dims[dim];
  }
  const AxisParts& getResults(int64_t dim) const { return resultState.dims[dim]; }
  int64_t getNumTiles(unsigned operand, int64_t dim) const { return getGroupSize(getTiles(operand, dim)); }

  /// True when dimension `dim` of the result or of an operand is sharded.
  bool isSharded(int64_t dim) const {
    for (unsigned operand = 0; operand < localised.globalOperands.size(); ++operand)
      if (dim < localised.globalOperands[operand].getRank() && !getTiles(operand, dim).empty()) return true;
    return !getResults(dim).empty();
  }

  int64_t getTile(int64_t dim) const { return localised.localResults[0].getDimSize(dim); }
  int64_t getGlobalSize(unsigned operand, int64_t dim) const {
    return localised.globalOperands[operand].getDimSize(dim);
  }

  /// The rank's tile of the result along `dim`, whose element 0 is element `offset` of an operand of `size` elements.
  WantedRange getTileRange(int64_t dim, int64_t size, int64_t offset, int64_t step = 1) const {
    int64_t tile = getTile(dim);
    return {.dim = dim,
            .size = size,
            .length = tile,
            .results = getResults(dim),
            .scale = tile * step,
            .offset = offset,
            .step = step};
  }

  /// A value has one global type: where the op's result is an older value, it gets a name of its own.
  FailureOr<Value> replaceBy(Value value) {
    Operation* definer = value.getDefiningOp();
    if (!definer || (before && !before->isBeforeInBlock(definer)))
      value = ReshapeOp::create(builder, localised.op->getLoc(), value.getType(), value);
    localised.op->getResult(0).replaceAllUsesWith(value);
    localised.op->erase();
    return value;
  }

  const LocalisedOp& localised;
  ReshardEmitter& emitter;
  Operation* before = localised.op->getPrevNode();
  OpBuilder builder;
  RangeEmitter ranges;

 private:
  ShardState resultState;
};
}  // namespace

static FailureOr<Value> localizeSlice(SliceOp op, const LocalisedOp& localised, ReshardEmitter& emitter) {
  MovementEmitter move(localised, emitter);
  // Of equal elements a rank takes its own, where every rank has one.
  auto isOwn = [&](int64_t dim) {
    int64_t size = move.getGlobalSize(0, dim), tile = cast<RankedTensorType>(op.getInput().getType()).getDimSize(dim);
    return hasHint(op, kUniformAttr) && size > 1 && localised.globalResults[0].getDimSize(dim) == 1 &&
           move.getResults(dim).empty() && (move.getNumTiles(0, dim) - 1) * tile < size;
  };
  auto isMoved = [&](int64_t dim) {
    return move.isSharded(dim) && localised.globalResults[0].getDimSize(dim) != move.getGlobalSize(0, dim) &&
           !isOwn(dim);
  };
  int64_t rank = localised.localResults[0].getRank();
  // Slices dimensions that stay whole first: then less is sent.
  Value value = op.getInput();
  SmallVector<int64_t> starts(rank, 0), limits(cast<RankedTensorType>(value.getType()).getShape()), strides(rank, 1);
  SmallVector<int64_t> shape(limits);
  bool cuts = false;
  for (int64_t dim = 0; dim < rank; ++dim) {
    bool takesOwn = move.isSharded(dim) && isOwn(dim);
    if (move.isSharded(dim) && !takesOwn) continue;
    cuts |= move.getTile(dim) != limits[dim];
    if (takesOwn) {
      shape[dim] = limits[dim] = 1;
      continue;
    }
    starts[dim] = op.getStarts()[dim];
    limits[dim] = op.getLimits()[dim];
    strides[dim] = op.getStrides()[dim];
    shape[dim] = move.getTile(dim);
  }
  if (cuts)
    value = SliceOp::create(move.builder, op.getLoc(), localised.localResults[0].clone(shape), value, starts, limits,
                            strides);
  for (int64_t dim = 0; dim < rank; ++dim) {
    if (!isMoved(dim)) continue;
    // Not only up to the slice's limit: ranges of one size can be merged, and padding of the result may hold anything.
    WantedRange wanted = move.getTileRange(dim, move.getGlobalSize(0, dim), op.getStarts()[dim], op.getStrides()[dim]);
    value = move.ranges.emitUnbounded(value, move.getTiles(0, dim), wanted);
  }
  return move.replaceBy(value);
}

/// Along one sharded dimension.
static Value padDimension(MovementEmitter& move, PadOp op, Value value, int64_t dim) {
  AxisParts tiles = move.getTiles(0, dim);
  Value filler = isZero(op.getValue()) ? Value() : op.getValue();
  WantedRange wanted = move.getTileRange(dim, move.getGlobalSize(0, dim), -op.getLow()[dim]);
  if (op.getInterior()[dim] != 0)
    return move.ranges.emitSpread(value, tiles, wanted, op.getInterior()[dim] + 1, filler);
  Value range = move.ranges.emit(value, tiles, wanted);
  if (filler) range = move.ranges.fillOutside(range, wanted, filler);
  move.ranges.noteOrigin(range, value, tiles, wanted, filler);
  return range;
}

static FailureOr<Value> localizePad(PadOp op, const LocalisedOp& localised, ReshardEmitter& emitter) {
  MovementEmitter move(localised, emitter);
  int64_t rank = localised.localResults[0].getRank();
  SmallVector<int64_t> shape(cast<RankedTensorType>(op.getInput().getType()).getShape());
  SmallVector<int64_t> low(rank, 0), high(rank, 0), interior(rank, 0);
  Value value = op.getInput();
  bool pads = false;
  auto isTouched = [&](int64_t dim) {
    return op.getLow()[dim] != 0 || op.getHigh()[dim] != 0 || op.getInterior()[dim];
  };
  for (int64_t dim = 0; dim < rank; ++dim)
    if (move.isSharded(dim) && isTouched(dim)) value = padDimension(move, op, value, dim);
  shape = SmallVector<int64_t>(cast<RankedTensorType>(value.getType()).getShape());
  for (int64_t dim = 0; dim < rank; ++dim) {
    if (move.isSharded(dim) || !isTouched(dim)) continue;
    pads = true;
    low[dim] = op.getLow()[dim];
    high[dim] = op.getHigh()[dim];
    interior[dim] = op.getInterior()[dim];
    shape[dim] = move.getTile(dim);
  }
  if (pads)
    value = PadOp::create(move.builder, op.getLoc(), localised.localResults[0].clone(shape), value, op.getValue(), low,
                          high, interior);
  return move.replaceBy(value);
}

static FailureOr<Value> localizeConcatenate(ConcatenateOp op, const LocalisedOp& localised, ReshardEmitter& emitter) {
  MovementEmitter move(localised, emitter);
  int64_t dim = op.getDimension();
  if (!move.isSharded(dim)) {
    op.getResult().setType(localised.localResults[0]);
    return Value();
  }
  RankedTensorType type = localised.localResults[0];
  WantedRange position{
      .dim = dim, .length = type.getDimSize(dim), .results = move.getResults(dim), .scale = type.getDimSize(dim)};
  Value positions, result;
  int64_t begin = 0;
  for (auto [index, input] : llvm::enumerate(op.getInputs())) {
    int64_t size = move.getGlobalSize(index, dim);
    if (size == 0) continue;
    Value part = move.ranges.emitUnbounded(input, move.getTiles(index, dim), move.getTileRange(dim, size, -begin));
    if (result) {
      if (!positions) positions = move.ranges.emitPositions(type, dim, move.ranges.emitStart(position, 0), 1);
      Value limit = BroadcastInDimOp::create(move.builder, op.getLoc(), positions.getType(), move.ranges.scalar(begin),
                                             ArrayRef<int64_t>{});
      Value isBehind = arith::CmpIOp::create(move.builder, op.getLoc(), arith::CmpIPredicate::sge, positions, limit);
      part = arith::SelectOp::create(move.builder, op.getLoc(), isBehind, part, result);
    }
    result = part;
    begin += size;
  }
  if (!result) result = op.getInputs().front();
  return move.replaceBy(result);
}

static FailureOr<Value> localizeReverse(ReverseOp op, const LocalisedOp& localised, ReshardEmitter& emitter) {
  MovementEmitter move(localised, emitter);
  Value value = op.getInput();
  // A dimension of one element stays as it is; reversed, its padding would come first.
  SmallVector<int64_t> dims(op.getDimensions());
  llvm::erase_if(dims, [&](int64_t dim) { return move.getGlobalSize(0, dim) == 1; });
  for (int64_t dim : dims) {
    if (!move.isSharded(dim)) continue;
    // Tile j backwards ends at the operand's element n - 1 - j * tile.
    int64_t tile = move.getTile(dim), size = move.getGlobalSize(0, dim);
    WantedRange wanted = move.getTileRange(dim, size, size - tile);
    wanted.scale = -tile;
    value = move.ranges.emitUnbounded(value, move.getTiles(0, dim), wanted);
  }
  value = ReverseOp::create(move.builder, op.getLoc(), value, dims);
  return move.replaceBy(value);
}

/// A rank's first slice is the summand that it holds; further ones are zeros.
static FailureOr<Value> localizeSummands(SummandsOp op, const LocalisedOp& localised, ReshardEmitter& emitter) {
  MovementEmitter move(localised, emitter);
  RankedTensorType type = localised.localResults[0];
  SmallVector<int64_t> shape(type.getShape()), none(type.getRank(), 0), high(type.getRank(), 0);
  high[0] = shape[0] - 1;
  shape[0] = 1;
  Value value = ReshapeOp::create(move.builder, op.getLoc(), type.clone(shape), op.getInput());
  if (high[0] != 0) {
    auto scalar = RankedTensorType::get({}, type.getElementType());
    Value zero =
        arith::ConstantOp::create(move.builder, op.getLoc(), cast<TypedAttr>(move.builder.getZeroAttr(scalar)));
    value = PadOp::create(move.builder, op.getLoc(), type, value, zero, none, high, none);
  }
  return move.replaceBy(value);
}

void mlir::sgd::attachMovementRules(MLIRContext& context) {
  attachLocalRule<SliceOp, localizeSlice>(context);
  attachLocalRule<PadOp, localizePad>(context);
  attachLocalRule<ConcatenateOp, localizeConcatenate>(context);
  attachLocalRule<ReverseOp, localizeReverse>(context);
  attachLocalRule<SummandsOp, localizeSummands>(context);
}
