// Ops that move elements: what their attributes say of dimensions holds behind the leading ones.
#include "passes/sharding/manual/batch_rule.h"

using namespace mlir;
using namespace mlir::sgd;

/// The type of the op's result behind the leading dimensions of `input`.
static RankedTensorType getTypeBehind(Operation* op, const Batched& input, BatchBuilder& batch) {
  return batch.getBatchedType(input.axes, op->getResult(0).getType());
}

static Batched batchBroadcastInDim(BroadcastInDimOp op, ArrayRef<Batched> operands, BatchBuilder& batch) {
  const Batched& input = operands[0];
  return {BroadcastInDimOp::create(batch.getBuilder(), op.getLoc(), getTypeBehind(op, input, batch), input.value,
                                   behind(input.axes.size(), op.getDims())),
          input.axes};
}

static Batched batchTranspose(TransposeOp op, ArrayRef<Batched> operands, BatchBuilder& batch) {
  const Batched& input = operands[0];
  return {TransposeOp::create(batch.getBuilder(), op.getLoc(), getTypeBehind(op, input, batch), input.value,
                              behind(input.axes.size(), op.getPermutation())),
          input.axes};
}

static Batched batchReshape(ReshapeOp op, ArrayRef<Batched> operands, BatchBuilder& batch) {
  const Batched& input = operands[0];
  return {ReshapeOp::create(batch.getBuilder(), op.getLoc(), getTypeBehind(op, input, batch), input.value), input.axes};
}

static Batched batchReverse(ReverseOp op, ArrayRef<Batched> operands, BatchBuilder& batch) {
  const Batched& input = operands[0];
  return {
      ReverseOp::create(batch.getBuilder(), op.getLoc(), input.value, shifted(input.axes.size(), op.getDimensions())),
      input.axes};
}

static Batched batchPad(PadOp op, ArrayRef<Batched> operands, BatchBuilder& batch) {
  const Batched &input = operands[0], &value = operands[1];
  int64_t count = input.axes.size();
  auto pad = [&](Value padded, Value with) {
    auto element = cast<RankedTensorType>(padded.getType()).getElementType();
    RankedTensorType type = batch.getBatchedType(input.axes, op.getType()).clone(element);
    return PadOp::create(batch.getBuilder(), op.getLoc(), type, padded, with, prefixed(count, 0, op.getLow()),
                         prefixed(count, 0, op.getHigh()), prefixed(count, 0, op.getInterior()));
  };
  if (value.isUniform()) return {pad(input.value, value.value), input.axes};
  // Each rank has a value of its own: padded with anything, then selected outside of the input.
  OpBuilder& builder = batch.getBuilder();
  auto constant = [&](RankedTensorType type, bool number) -> Value {
    Attribute element = builder.getIntegerAttr(type.getElementType(), number ? 1 : 0);
    return arith::ConstantOp::create(builder, op.getLoc(), DenseElementsAttr::get(type, element));
  };
  Type flag = builder.getI1Type();
  Value isInput = pad(constant(input.getType().clone(flag), true), constant(RankedTensorType::get({}, flag), false));
  auto scalar = RankedTensorType::get({}, input.getType().getElementType());
  Value zero = arith::ConstantOp::create(builder, op.getLoc(), cast<TypedAttr>(builder.getZeroAttr(scalar)));
  AxisIndices axes = unite(input.axes, value.axes);
  Batched spreadValue = batch.spread(op.getLoc(), value, axes);
  Value values = BroadcastInDimOp::create(builder, op.getLoc(), batch.getBatchedType(axes, op.getType()),
                                          spreadValue.value, behind(axes.size(), {}));
  Value padded = batch.spread(op.getLoc(), {pad(input.value, zero), input.axes}, axes).value;
  Value mask = batch.spread(op.getLoc(), {isInput, input.axes}, axes).value;
  return {arith::SelectOp::create(builder, op.getLoc(), mask, padded, values), axes};
}

static Batched batchSlice(SliceOp op, ArrayRef<Batched> operands, BatchBuilder& batch) {
  const Batched& input = operands[0];
  int64_t count = input.axes.size();
  SmallVector<int64_t> limits = batch.getSizes(input.axes);
  llvm::append_range(limits, op.getLimits());
  return {SliceOp::create(batch.getBuilder(), op.getLoc(), batch.getBatchedType(input.axes, op.getType()), input.value,
                          prefixed(count, 0, op.getStarts()), limits, prefixed(count, 1, op.getStrides())),
          input.axes};
}

static Batched batchConcatenate(ConcatenateOp op, ArrayRef<Batched> operands, BatchBuilder& batch) {
  AxisIndices axes = uniteAxes(operands);
  return {ConcatenateOp::create(batch.getBuilder(), op.getLoc(), batch.getBatchedType(axes, op.getType()),
                                spreadAll(op.getLoc(), operands, axes, batch), op.getDimension() + axes.size()),
          axes};
}

/// The annotation of what each rank sees, behind the leading dimensions, which lie where the ranks do.
static Batched batchConstraint(ShardingConstraintOp op, ArrayRef<Batched> operands, BatchBuilder& batch) {
  const Batched& input = operands[0];
  ShardingAttr sharding = op.getSharding();
  SmallVector<DimShardingAttr> dims;
  for (unsigned axis : input.axes) dims.push_back(batch.getDimSharding(axis));
  llvm::append_range(dims, sharding.getDims());
  auto batched = ShardingAttr::get(op.getContext(), sharding.getMesh(), dims, sharding.getReplicated(),
                                   sharding.getUnreduced(), sharding.getUnreducedKind());
  return {ShardingConstraintOp::create(batch.getBuilder(), op.getLoc(), input.value, batched), input.axes};
}

/// Each value keeps its own leading dimensions.
static SmallVector<Batched> batchBarrier(OptimizationBarrierOp op, ArrayRef<Batched> operands, BatchBuilder& batch) {
  SmallVector<Value> values = llvm::map_to_vector(operands, [](const Batched& operand) { return operand.value; });
  Operation* copy =
      OptimizationBarrierOp::create(batch.getBuilder(), op.getLoc(), TypeRange(ValueRange(values)), values);
  SmallVector<Batched> results;
  for (auto [result, operand] : llvm::zip(copy->getResults(), operands)) results.push_back({result, operand.axes});
  return results;
}

void mlir::sgd::attachMovementBatchRules(MLIRContext& context) {
  attachBatchRule<BroadcastInDimOp, batchBroadcastInDim>(context);
  attachBatchRule<TransposeOp, batchTranspose>(context);
  attachBatchRule<ReshapeOp, batchReshape>(context);
  attachBatchRule<ReverseOp, batchReverse>(context);
  attachBatchRule<PadOp, batchPad>(context);
  attachBatchRule<SliceOp, batchSlice>(context);
  attachBatchRule<ConcatenateOp, batchConcatenate>(context);
  attachBatchRule<ShardingConstraintOp, batchConstraint>(context);
  attachBatchRule<OptimizationBarrierOp, batchBarrier>(context);
}
