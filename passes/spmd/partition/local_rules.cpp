// Iota gets its rank's offset, constants shrink, sizes in attributes become local.
#include "passes/spmd/partition/local_rules.h"

#include "passes/sharding/propagation/partial_values.h"
#include "passes/sharding/reshard/sharding_state.h"
#include "passes/spmd/partition/host_call_rules.h"

using namespace mlir;
using namespace mlir::sgd;

#include "passes/spmd/partition/local_rule.cpp.inc"

namespace {
void setLocalTypes(const LocalisedOp& localised) {
  for (auto [result, type] : llvm::zip(localised.op->getResults(), localised.localResults)) result.setType(type);
}

/// A scalar i32 as a tensor of `type`'s shape and element type.
Value splatIndex(OpBuilder& builder, Location loc, Value index, RankedTensorType type) {
  Type element = type.getElementType();
  auto scalar = RankedTensorType::get({}, element);
  if (isa<FloatType>(element)) {
    index = arith::SIToFPOp::create(builder, loc, scalar, index);
  } else if (element.getIntOrFloatBitWidth() > 32) {
    index = arith::ExtSIOp::create(builder, loc, scalar, index);
  } else if (element.getIntOrFloatBitWidth() < 32) {
    index = arith::TruncIOp::create(builder, loc, scalar, index);
  }
  return BroadcastInDimOp::create(builder, loc, type, index, ArrayRef<int64_t>{});
}

/// Indices of this shard: the local iota plus the elements of the shards before it.
FailureOr<Value> localizeIota(IotaOp iota, const LocalisedOp& localised, ReshardEmitter& emitter) {
  setLocalTypes(localised);
  int64_t dim = iota.getDimension();
  ShardState state = getShardState(emitter.getMesh(), getSharding(localised.globalResults[0]));
  if (state.dims[dim].empty()) return Value();
  OpBuilder builder(iota->getContext());
  builder.setInsertionPointAfter(iota);
  Location loc = iota.getLoc();
  RankedTensorType type = localised.localResults[0];
  auto scalar = RankedTensorType::get({}, builder.getI32Type());
  int64_t size = type.getDimSize(dim);
  Value shardSize =
      arith::ConstantOp::create(builder, loc, DenseElementsAttr::get(scalar, builder.getI32IntegerAttr(size)));
  Value offset = arith::MulIOp::create(builder, loc, emitter.getPartitionId(loc, state.dims[dim]), shardSize);
  Value offsets = splatIndex(builder, loc, offset, type);
  Value indices = createCombiner(builder, loc, ReduceKind::Add, iota.getResult(), offsets);
  iota.getResult().replaceAllUsesExcept(indices, indices.getDefiningOp());
  return indices;
}

/// A splat is any shard of itself. Other constants are held whole and sliced; summands of one live on the first rank.
FailureOr<Value> localizeConstant(arith::ConstantOp constant, const LocalisedOp& localised, ReshardEmitter& emitter) {
  RankedTensorType global = localised.globalResults[0], local = localised.localResults[0];
  auto value = dyn_cast<DenseElementsAttr>(constant.getValue());
  if (!value)
    return constant.emitOpError("is no dense constant; expected dense<...> to be partitioned; write its elements");
  ShardingAttr sharding = getSharding(global);
  bool isFactor = static_cast<bool>(constant->removeDiscardableAttr(kFactorAttr));
  if (auto splat = dyn_cast<SplatElementsAttr>(value)) {
    OpBuilder builder(constant);
    bool isNeutral = splat.getSplatValue<Attribute>() ==
                     getNeutralElement(builder, sharding.getUnreducedKind(), splat.getElementType());
    if (isNeutral || !sharding.isPartial() || isFactor) {
      constant.getResult().setType(local);
      constant.setValueAttr(splat.resizeSplat(local));
      return Value();
    }
  }
  auto whole = RankedTensorType::get(global.getShape(), global.getElementType());
  constant.getResult().setType(whole);
  constant.setValueAttr(value.reshape(whole));
  OpBuilder builder(constant->getContext());
  builder.setInsertionPointAfter(constant);
  auto replicated =
      withSharding(global, ShardingAttr::getReplicated(builder.getContext(), sharding.getMesh(), global.getRank()));
  SmallVector<OpOperand*> uses = llvm::to_vector(llvm::make_pointer_range(constant.getResult().getUses()));
  Decision cause{.kind = DecisionKind::Movement, .movement = Movement{.cause = MovementCause::Constant}};
  FailureOr<Value> shard = emitter.emit(builder, constant.getLoc(), constant.getResult(), replicated, global, cause);
  if (failed(shard)) return failure();
  for (OpOperand* use : uses) use->set(*shard);
  return *shard;
}

}  // namespace

FailureOr<Value> mlir::sgd::localizeOp(const LocalisedOp& localised, ReshardEmitter& emitter) {
  if (auto ruled = dyn_cast<LocalRuleOpInterface>(localised.op)) return ruled.localize(localised, emitter);
  setLocalTypes(localised);
  return Value();
}

void mlir::sgd::registerLocalRules(DialectRegistry& registry) {
  registry.addExtension(+[](MLIRContext* context, SgdDialect*) {
    attachLocalRule<IotaOp, localizeIota>(*context);
    attachLocalRule<arith::ConstantOp, localizeConstant>(*context);
    attachMovementRules(*context);
    attachReshapeRules(*context);
    attachConvolutionRules(*context);
    attachCumulativeRules(*context);
    attachHostCallRules(*context);
    attachGatherRules(*context);
    attachScatterRules(*context);
    attachDynamicSliceRules(*context);
  });
}
