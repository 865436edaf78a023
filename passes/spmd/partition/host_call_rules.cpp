// Host calls. What numbers the ranks is no part of a rank's values, and what rank 0 got from the host goes to all.
#include "passes/spmd/partition/host_call_rules.h"

#include "dialects/sgd/host_call.h"
#include "dialects/sgd/tensor_type.h"
#include "passes/spmd/partition/explain_movement.h"

using namespace mlir;
using namespace mlir::sgd;

namespace {

/// Shards that end in padding are not a rank's own values.
LogicalResult checkEven(HostCallOp call, const LocalisedOp& localised, ReshardEmitter& emitter) {
  for (auto [index, global] : llvm::enumerate(localised.globalOperands)) {
    ShardingAttr sharding = getSharding(global);
    for (auto [dim, size] : llvm::enumerate(global.getShape()))
      if (size % sharding.getNumShards(dim, emitter.getMesh()) != 0)
        return call.emitError() << "'" << call.getCallee() << "' gets the shards of operand " << index << ", whose "
                                << "dimension " << dim << " of size " << size << " is unevenly sharded over "
                                << sharding.getNumShards(dim, emitter.getMesh())
                                << " ranks; expected equal shards; call it with the whole value, or pad it";
  }
  return success();
}

/// The call on values without the coordinates, each of which is 1 on a rank.
LogicalResult dropCoordinates(HostCallOp call, const LocalisedOp& localised) {
  OpBuilder builder(call);
  Location loc = call.getLoc();
  auto coordinates = static_cast<int64_t>(call.getCoordinates());
  auto drop = [&](RankedTensorType type) {
    return RankedTensorType::get(type.getShape().drop_front(coordinates), type.getElementType());
  };
  SmallVector<Value> inputs;
  Value when;
  for (OpOperand& operand : call->getOpOperands()) {
    auto type = cast<RankedTensorType>(operand.get().getType());
    if (llvm::any_of(type.getShape().take_front(coordinates), [](int64_t size) { return size != 1; }))
      return call.emitError() << "'" << call.getCallee() << "' has operand " << operand.getOperandNumber() << " of "
                              << type << " on each rank; expected 1 for each of its " << coordinates
                              << " coordinates; shard them over all axes";
    Value value = ReshapeOp::create(builder, loc, drop(type), operand.get());
    if (call.getWhen() && operand.getOperandNumber() == call->getNumOperands() - 1)
      when = value;
    else
      inputs.push_back(value);
  }
  SmallVector<Type> types =
      llvm::map_to_vector(localised.localResults, [&](RankedTensorType type) -> Type { return drop(type); });
  auto local = HostCallOp::create(builder, loc, types, inputs, when, call.getCalleeAttr(), call.getIdAttr(),
                                  call.getEachRankAttr(), builder.getI64IntegerAttr(0));
  for (auto [old, result, type] : llvm::zip(call.getResults(), local.getResults(), localised.localResults))
    old.replaceAllUsesWith(ReshapeOp::create(builder, loc, type, result).getResult());
  call.erase();
  return success();
}

/// Rank 0 has called: the others get its results.
void broadcastResults(HostCallOp call, const LocalisedOp& localised, ReshardEmitter& emitter) {
  OpBuilder builder(call->getContext());
  builder.setInsertionPointAfter(call);
  AxisParts all;
  for (auto [index, axis] : llvm::enumerate(emitter.getMesh().getAxes()))
    appendMerged(all, {static_cast<unsigned>(index), 1, axis.getSize()});
  for (auto [result, type] : llvm::zip(call.getResults(), localised.localResults)) {
    result.setType(type);
    if (all.empty() || result.use_empty()) continue;
    auto broadcast = spmd::BroadcastOp::create(builder, call.getLoc(), type, result, emitter.getAxes(all));
    result.replaceAllUsesExcept(broadcast, broadcast);
    uint64_t bytes = getByteSize(type);
    Decision decision = explainMovement(call);
    decision.movement->from = "rank 0, which calls the host";
    decision.movement->to = "all ranks";
    decision.chosen = "broadcast";
    decision.bytes = CostModel::getSentBytes(CollectiveKind::kBroadcast, all, bytes);
    decision.seconds = emitter.getCost().getCollectiveSeconds(CollectiveKind::kBroadcast, all, bytes);
    setDecisions(broadcast, decision);
  }
}

FailureOr<Value> localizeHostCall(HostCallOp call, const LocalisedOp& localised, ReshardEmitter& emitter) {
  if (call.getCoordinates() > 0) {
    if (failed(dropCoordinates(call, localised))) return failure();
  } else if (call.getEachRank()) {
    if (failed(checkEven(call, localised, emitter))) return failure();
    for (auto [result, type] : llvm::zip(call.getResults(), localised.localResults)) result.setType(type);
  } else {
    broadcastResults(call, localised, emitter);
  }
  return Value();
}

}  // namespace

void mlir::sgd::attachHostCallRules(MLIRContext& context) { attachLocalRule<HostCallOp, localizeHostCall>(context); }
