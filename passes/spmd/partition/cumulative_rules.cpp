// Within a rank as before; between ranks by the totals, of which there are few.
#include "passes/spmd/partition/local_rules.h"

#include "llvm/Support/FormatVariadic.h"
#include "passes/sharding/reshard/sharding_state.h"
#include "passes/spmd/partition/explain_movement.h"
#include "passes/spmd/partition/range_emitter.h"

using namespace mlir;
using namespace mlir::sgd;

namespace {
class Cumulation {
 public:
  Cumulation(CumulativeOp op, ReshardEmitter& emitter)
      : op(op),
        dim(op.getDimension()),
        element(cast<RankedTensorType>(op.getType()).getElementType()),
        emitter(emitter),
        builder(op),
        loc(op.getLoc()),
        ranges(emitter, builder, loc, explainMovement(op)) {
    if (element.isF16() || element.isBF16()) element = builder.getF32Type();
  }

  Value accumulate(Value value) {
    return CumulativeOp::create(builder, loc, value.getType(), value, op.getKind(), op.getDimension(), op.getReverse());
  }
  Value getTotal(Value accumulated);
  Value gatherTotals(Value total, ArrayRef<AxisPart> tiles);
  Value combineEarlier(Value totals, ArrayRef<AxisPart> tiles);
  Value combine(Value earlier, Value later) {
    return createCombiner(builder, loc, op.getKind(), op.getReverse() ? later : earlier,
                          op.getReverse() ? earlier : later);
  }
  Value neutral() {
    auto scalar = RankedTensorType::get({}, element);
    Attribute value = getNeutralElement(builder, op.getKind(), element);
    return arith::ConstantOp::create(builder, loc, cast<TypedAttr>(DenseElementsAttr::get(scalar, value)));
  }

  CumulativeOp op;
  int64_t dim;
  Type element;  // what is combined
  ReshardEmitter& emitter;
  OpBuilder builder;
  Location loc;
  RangeEmitter ranges;
};
}  // namespace

/// A rank's elements all combined, as one slice.
Value Cumulation::getTotal(Value accumulated) {
  return ranges.slice(accumulated, dim, op.getReverse() ? 0 : tensorType(accumulated).getDimSize(dim) - 1, 1, 1);
}

Value Cumulation::gatherTotals(Value total, ArrayRef<AxisPart> tiles) {
  SmallVector<int64_t> shape(tensorType(total).getShape());
  shape[dim] = getGroupSize(tiles);
  RankedTensorType type = tensorType(total).clone(shape);
  auto gather = spmd::AllGatherOp::create(builder, loc, TypeRange{type}, ValueRange{total}, ArrayRef<int64_t>{dim},
                                          emitter.getAxes(tiles));
  uint64_t bytes = getByteSize(type);
  Decision decision = explainMovement(op);
  decision.movement->from = "totals of each rank";
  decision.movement->to = "of all ranks";
  decision.chosen = "all_gather";
  decision.bytes = CostModel::getSentBytes(CollectiveKind::kAllGather, tiles, bytes);
  decision.seconds = emitter.getCost().getCollectiveSeconds(CollectiveKind::kAllGather, tiles, bytes);
  setDecisions(gather, decision);
  return gather.getResult(0);
}

/// The totals of the ranks before this one (behind it when reversed) combined, in the shape of a rank's elements.
Value Cumulation::combineEarlier(Value totals, ArrayRef<AxisPart> tiles) {
  RankedTensorType type = tensorType(totals), shard = tensorType(op.getInput()).clone(element);
  auto indices = type.clone(builder.getI32Type());
  Value rank = BroadcastInDimOp::create(builder, loc, indices, emitter.getPartitionId(loc, tiles), ArrayRef<int64_t>{});
  auto predicate = op.getReverse() ? arith::CmpIPredicate::sgt : arith::CmpIPredicate::slt;
  Value isEarlier = arith::CmpIOp::create(builder, loc, predicate, IotaOp::create(builder, loc, indices, dim), rank);
  Value neutrals = BroadcastInDimOp::create(builder, loc, type, neutral(), ArrayRef<int64_t>{});
  Value earlier = arith::SelectOp::create(builder, loc, isEarlier, totals, neutrals);
  SmallVector<int64_t> shape(type.getShape()), kept;
  shape.erase(shape.begin() + dim);
  for (int64_t other = 0; other < type.getRank(); ++other)
    if (other != dim) kept.push_back(other);
  Value combined = ReduceOp::create(builder, loc, type.clone(shape), earlier, op.getKind(), ArrayRef<int64_t>{dim});
  return BroadcastInDimOp::create(builder, loc, shard, combined, kept);
}

static FailureOr<Value> localizeCumulative(CumulativeOp op, const LocalisedOp& localised, ReshardEmitter& emitter) {
  Cumulation cumulation(op, emitter);
  int64_t dim = op.getDimension();
  AxisParts tiles = getShardState(emitter.getMesh(), getSharding(localised.globalOperands[0])).dims[dim];
  int64_t size = localised.globalOperands[0].getDimSize(dim), tile = tensorType(op.getInput()).getDimSize(dim);
  Value value = op.getInput();
  RankedTensorType narrow = tensorType(value);
  bool isNarrow = narrow.getElementType() != cumulation.element;
  if (isNarrow) value = arith::ExtFOp::create(cumulation.builder, op.getLoc(), narrow.clone(cumulation.element), value);
  // Backwards, the padding of the last tiles comes first.
  if (op.getReverse() && tile * getGroupSize(tiles) != size) {
    WantedRange own{.dim = dim, .size = size, .length = tile, .results = tiles, .scale = tile};
    value = cumulation.ranges.fillOutside(value, own, cumulation.neutral());
  }
  value = cumulation.accumulate(value);
  if (!tiles.empty() && tile != 0) {
    Value totals = cumulation.gatherTotals(cumulation.getTotal(value), tiles);
    value = cumulation.combine(cumulation.combineEarlier(totals, tiles), value);
  }
  if (isNarrow) value = arith::TruncFOp::create(cumulation.builder, op.getLoc(), narrow, value);
  op.getResult().replaceAllUsesWith(value);
  op->erase();
  return value;
}

void mlir::sgd::attachCumulativeRules(MLIRContext& context) {
  attachLocalRule<CumulativeOp, localizeCumulative>(context);
}
