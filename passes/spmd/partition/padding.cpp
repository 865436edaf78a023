// An element is padding where its index in the whole dimension, that of the shard plus what stands before the shard, is
// not below the dimension's size.
#include "passes/spmd/partition/padding.h"

#include "dialects/sgd/sharding_rule.h"
#include "passes/sharding/reshard/sharding_state.h"

using namespace mlir;
using namespace mlir::sgd;

/// A boolean tensor of the shard's shape: true where the index along `dim` is inside the whole dimension.
static Value isInside(OpBuilder& builder, Location loc, RankedTensorType local, RankedTensorType global, int64_t dim,
                      ReshardEmitter& emitter) {
  MeshAttr mesh = emitter.getMesh();
  ArrayRef<AxisRefAttr> axes = getSharding(global).getDims()[dim].getAxes();
  int64_t size = global.getDimSize(dim), tile = local.getDimSize(dim);
  bool isWide = size + tile > std::numeric_limits<int32_t>::max();
  Type index = isWide ? builder.getI64Type() : builder.getI32Type();
  auto scalar = RankedTensorType::get({}, index);
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantOp::create(builder, loc,
                                     DenseElementsAttr::get(scalar, builder.getIntegerAttr(index, value)));
  };
  Value shard = emitter.getPartitionId(loc, getParts(mesh, axes));
  if (isWide) shard = arith::ExtSIOp::create(builder, loc, scalar, shard);
  Value before = arith::MulIOp::create(builder, loc, shard, constant(tile));
  Value limit = arith::SubIOp::create(builder, loc, constant(size), before);
  auto indices = RankedTensorType::get(local.getShape(), index);
  Value iota = IotaOp::create(builder, loc, indices, dim);
  Value limits = BroadcastInDimOp::create(builder, loc, indices, limit, ArrayRef<int64_t>{});
  return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt, iota, limits);
}

Value mlir::sgd::fillPadding(OpBuilder& builder, Location loc, Value value, RankedTensorType global,
                             ArrayRef<int64_t> dims, TypedAttr filler, ReshardEmitter& emitter) {
  auto local = cast<RankedTensorType>(value.getType());
  Value inside;
  for (int64_t dim : dims) {
    Value one = isInside(builder, loc, local, global, dim, emitter);
    inside = inside ? arith::AndIOp::create(builder, loc, inside, one).getResult() : one;
  }
  Value fillers = arith::ConstantOp::create(builder, loc, cast<TypedAttr>(DenseElementsAttr::get(local, filler)));
  return arith::SelectOp::create(builder, loc, inside, value, fillers);
}

TypedAttr mlir::sgd::getFiller(OpBuilder& builder, PaddingFill fill, ReduceKind kind, Type element) {
  switch (fill) {
    case PaddingFill::Neutral:
      return getNeutralElement(builder, kind, element);
    case PaddingFill::AllOnes:
      return builder.getIntegerAttr(element, APInt::getAllOnes(element.getIntOrFloatBitWidth()));
    case PaddingFill::Anything:
      return {};
  }
  llvm_unreachable("all fills are handled");
}

void PaddingFiller::note(Operation* op) {
  ShardingRule rule = cast<ShardingRuleOpInterface>(op).getShardingRule();
  MeshAttr mesh = emitter.getMesh();
  OpBuilder builder(op->getContext());
  for (auto [operand, mapping] : llvm::enumerate(rule.operands)) {
    auto global = cast<RankedTensorType>(op->getOperand(operand).getType());
    PaddedOperand padded{static_cast<unsigned>(operand), global, {}, {}};
    for (auto [dim, factors] : llvm::enumerate(mapping)) {
      // A dimension of several factors is never padded.
      if (factors.size() != 1 || global.getDimSize(dim) % getSharding(global).getNumShards(dim, mesh) == 0) continue;
      const Factor& factor = rule.factors[factors[0]];
      if (factor.kind != FactorKind::Reduction) continue;
      padded.filler = getFiller(builder, rule.getPadding(operand), factor.reduceKind, global.getElementType());
      if (padded.filler) padded.dims.push_back(dim);
    }
    if (!padded.dims.empty()) noted[op].push_back(padded);
  }
}

void PaddingFiller::fill(Operation* op) {
  auto found = noted.find(op);
  if (found == noted.end()) return;
  OpBuilder builder(op);
  for (const PaddedOperand& padded : found->second) {
    Value value = op->getOperand(padded.operand);
    Value& shared = filled[{value, builder.getDenseI64ArrayAttr(padded.dims), padded.filler}];
    if (!shared) shared = fillPadding(builder, op->getLoc(), value, padded.global, padded.dims, padded.filler, emitter);
    op->setOperand(padded.operand, shared);
  }
}
