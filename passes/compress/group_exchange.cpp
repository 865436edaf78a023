// One collective each.
#include "passes/compress/group_exchange.h"

#include "passes/compress/local_reductions.h"
#include "passes/partition/ranges.h"
#include "passes/partition/sharding_state.h"

using namespace mlir;
using namespace mlir::sgd;

GroupExchange::GroupExchange(TensorMath& math, CompressedReductionOp op, const LocalisedOp& localised, unsigned input,
                             ReshardEmitter& emitter, int64_t steps)
    : math(math),
      emitter(emitter),
      axes(getShardState(emitter.getMesh(), getSharding(localised.globalOperands[input])).partial),
      explanation(explainReduction(op, localised, input)) {
  explanation.from = describeSharding(getSharding(localised.globalOperands[input]));
  explanation.to = describeSharding(getSharding(localised.globalResults[input]));
  explanation.step = 0;
  explanation.steps = steps;
}

void GroupExchange::explain(Operation* collective, CollectiveKind kind, uint64_t held) {
  explanation.kind = collective->getName().stripDialect().str();
  ++explanation.step;
  explanation.bytes = CostModel::getSentBytes(kind, axes, held);
  explanation.seconds = emitter.getCost().getCollectiveSeconds(kind, axes, held);
  setExplanation(collective, explanation);
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
