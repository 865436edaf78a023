// One collective each.
#include "passes/spmd/compress/group_exchange.h"

#include "passes/sharding/reshard/sharding_state.h"
#include "passes/spmd/compress/local_reductions.h"
#include "passes/spmd/partition/ranges.h"

using namespace mlir;
using namespace mlir::sgd;

GroupExchange::GroupExchange(TensorMath& math, CompressedReductionOp op, const LocalisedOp& localised, unsigned input,
                             ReshardEmitter& emitter, int64_t steps)
    : math(math),
      emitter(emitter),
      axes(getShardState(emitter.getMesh(), getSharding(localised.globalOperands[input])).partial),
      decision(explainReduction(op, localised, input)) {
  decision.movement->from = describeSharding(getSharding(localised.globalOperands[input]));
  decision.movement->to = describeSharding(getSharding(localised.globalResults[input]));
  decision.movement->step = 0;
  decision.movement->steps = steps;
}

void GroupExchange::explain(Operation* collective, CollectiveKind kind, uint64_t held) {
  decision.chosen = collective->getName().stripDialect().str();
  ++decision.movement->step;
  decision.bytes = CostModel::getSentBytes(kind, axes, held);
  decision.seconds = emitter.getCost().getCollectiveSeconds(kind, axes, held);
  setDecisions(collective, decision);
}

Value GroupExchange::exchangeRows(Value value) {
  int64_t ranks = getSize();
  RankedTensorType type = tensorType(value);
  // Tile t is rows [t * ranks, (t + 1) * ranks) of all tiles together; rank j wants every row at j of its tile.
  auto range = RangeAttr::get(math.getBuilder().getContext(), /*dim=*/0, /*size=*/ranks * ranks, /*scale=*/1,
                              /*offset=*/0, /*divisor=*/1, /*step=*/ranks);
  auto gather = spmd::GatherRangeOp::create(math.getBuilder(), math.getLoc(), TypeRange{type}, ValueRange{value},
                                            math.getBuilder().getArrayAttr({range}), emitter.getAxes(axes),
                                            emitter.getAxes(axes));
  explain(gather, CollectiveKind::kGatherRange, getSentBytes(emitter.getMesh(), range, type, type, axes, axes));
  return gather.getResult(0);
}

Value GroupExchange::gather(Value value) {
  SmallVector<int64_t> shape(tensorType(value).getShape());
  shape[0] *= getSize();
  RankedTensorType type = tensorType(value).clone(shape);
  auto gather = spmd::AllGatherOp::create(math.getBuilder(), math.getLoc(), TypeRange{type}, ValueRange{value},
                                          ArrayRef<int64_t>{0}, emitter.getAxes(axes));
  explain(gather, CollectiveKind::kAllGather, getByteSize(type));
  return gather.getResult(0);
}

Value GroupExchange::addUp(Value value) {
  auto sum = spmd::AllReduceOp::create(math.getBuilder(), math.getLoc(), TypeRange{value.getType()}, ValueRange{value},
                                       ReduceKind::Add, emitter.getAxes(axes));
  explain(sum, CollectiveKind::kAllReduce, getByteSize(tensorType(value)));
  return sum.getResult(0);
}
