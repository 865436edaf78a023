// Dispatch, ops that are the same on batched values, and ops that only need their dimensions renumbered.
#include "passes/manual/batch_op.h"

#include <numeric>

#include "dialects/sgd/grouped_dot.h"
#include "dialects/sgd/linear_algebra.h"
#include "dialects/sgd/sharding_rule.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::sgd;

AxisIndices mlir::sgd::uniteAxes(ArrayRef<Batched> operands) {
  AxisIndices axes;
  for (const Batched& operand : operands) axes = unite(axes, operand.axes);
  return axes;
}

SmallVector<int64_t> mlir::sgd::shifted(int64_t count, ArrayRef<int64_t> values) {
  return llvm::map_to_vector(values, [&](int64_t value) { return value + count; });
}

SmallVector<int64_t> mlir::sgd::behind(int64_t count, ArrayRef<int64_t> values) {
  SmallVector<int64_t> result(count);
  std::iota(result.begin(), result.end(), 0);
  llvm::append_range(result, shifted(count, values));
  return result;
}

SmallVector<int64_t> mlir::sgd::prefixed(int64_t count, int64_t value, ArrayRef<int64_t> values) {
  SmallVector<int64_t> result(count, value);
  llvm::append_range(result, values);
  return result;
}

/// The op on other operands; results have their types behind leading dimensions of `axes`.
static Operation* cloneWith(Operation* op, ValueRange operands, ArrayRef<unsigned> axes, BatchBuilder& batch) {
  Operation* copy = batch.getBuilder().clone(*op);
  copy->setOperands(operands);
  for (OpResult result : copy->getResults()) result.setType(batch.getBatchedType(axes, result.getType()));
  return copy;
}

static SmallVector<Value> spreadAll(Location loc, ArrayRef<Batched> operands, ArrayRef<unsigned> axes,
                                    BatchBuilder& batch) {
  return llvm::map_to_vector(operands, [&](const Batched& operand) { return batch.spread(loc, operand, axes).value; });
}

static void appendResults(Operation* op, const AxisIndices& axes, SmallVectorImpl<Batched>& results) {
  for (Value result : op->getResults()) results.push_back({result, axes});
}

/// Ops whose attributes are lists over dimensions.
static Batched batchPad(PadOp op, const Batched& input, const Batched& value, BatchBuilder& batch) {
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

static Batched batchSlice(SliceOp op, const Batched& input, BatchBuilder& batch) {
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
static Batched batchConstraint(ShardingConstraintOp op, const Batched& input, BatchBuilder& batch) {
  ShardingAttr sharding = op.getSharding();
  SmallVector<DimShardingAttr> dims;
  for (unsigned axis : input.axes) dims.push_back(batch.getDimSharding(axis));
  llvm::append_range(dims, sharding.getDims());
  auto batched = ShardingAttr::get(op.getContext(), sharding.getMesh(), dims, sharding.getReplicated(),
                                   sharding.getUnreduced(), sharding.getUnreducedKind());
  return {ShardingConstraintOp::create(batch.getBuilder(), op.getLoc(), input.value, batched), input.axes};
}

std::optional<FailureOr<Batched>> mlir::sgd::batchMove(Operation* op, ArrayRef<Batched> operands, BatchBuilder& batch) {
  using Result = std::optional<FailureOr<Batched>>;
  OpBuilder& builder = batch.getBuilder();
  Location loc = op->getLoc();
  // Of the first operand: ops of several operands look themselves.
  ArrayRef<unsigned> axes = operands.empty() ? ArrayRef<unsigned>() : ArrayRef<unsigned>(operands[0].axes);
  Value input = operands.empty() ? Value() : operands[0].value;
  int64_t count = axes.size();
  auto typeOf = [&](Operation* moved) { return batch.getBatchedType(axes, moved->getResult(0).getType()); };
  return llvm::TypeSwitch<Operation*, Result>(op)
      .Case([&](BroadcastInDimOp move) {
        return Batched{BroadcastInDimOp::create(builder, loc, typeOf(op), input, behind(count, move.getDims())),
                       AxisIndices(axes)};
      })
      .Case([&](TransposeOp move) {
        return Batched{TransposeOp::create(builder, loc, typeOf(op), input, behind(count, move.getPermutation())),
                       AxisIndices(axes)};
      })
      .Case([&](ReshapeOp) { return Batched{ReshapeOp::create(builder, loc, typeOf(op), input), AxisIndices(axes)}; })
      .Case([&](SliceOp move) { return batchSlice(move, operands[0], batch); })
      .Case([&](PadOp move) { return batchPad(move, operands[0], operands[1], batch); })
      .Case([&](ConcatenateOp move) { return batchConcatenate(move, operands, batch); })
      .Case([&](ReverseOp move) {
        return Batched{ReverseOp::create(builder, loc, input, shifted(count, move.getDimensions())), AxisIndices(axes)};
      })
      .Case([&](ReduceOp reduce) {
        return Batched{
            ReduceOp::create(builder, loc, typeOf(op), input, reduce.getKind(), shifted(count, reduce.getDimensions())),
            AxisIndices(axes)};
      })
      .Case([&](ShardingConstraintOp constraint) { return batchConstraint(constraint, operands[0], batch); })
      .Default([](Operation*) { return std::nullopt; });
}

LogicalResult mlir::sgd::batchOp(Operation* op, ArrayRef<Batched> operands, BatchBuilder& batch,
                                 SmallVectorImpl<Batched>& results) {
  if (auto collective = batchCollective(op, operands, batch)) {
    llvm::append_range(results, *collective);
    return success();
  }
  AxisIndices axes = uniteAxes(operands);
  if (auto barrier = dyn_cast<OptimizationBarrierOp>(op)) {
    SmallVector<Value> values = llvm::map_to_vector(operands, [](const Batched& operand) { return operand.value; });
    Operation* copy =
        OptimizationBarrierOp::create(batch.getBuilder(), op->getLoc(), TypeRange(ValueRange(values)), values);
    for (auto [result, operand] : llvm::zip(copy->getResults(), operands)) results.push_back({result, operand.axes});
    return success();
  }
  // Equal on all ranks, or the same op for each element.
  bool isConstraint = isa<ShardingConstraintOp>(op);
  if ((op->getNumRegions() == 0 || op->hasTrait<OpTrait::IsIsolatedFromAbove>()) && !isConstraint &&
      (axes.empty() || isElementwise(op))) {
    appendResults(cloneWith(op, spreadAll(op->getLoc(), operands, axes, batch), axes, batch), axes, results);
    return success();
  }
  // Rows are ordered or summed as before, and matrices decomposed or multiplied: there are more of them.
  if (isa<SortOp, TopKOp, CumulativeOp, LinearAlgebraOp, GroupedDotOp>(op)) {
    Operation* copy = cloneWith(op, spreadAll(op->getLoc(), operands, axes, batch), axes, batch);
    if (auto sort = dyn_cast<SortOp>(copy)) sort.setDimension(sort.getDimension() + axes.size());
    if (auto sums = dyn_cast<CumulativeOp>(copy)) sums.setDimension(sums.getDimension() + axes.size());
    appendResults(copy, axes, results);
    return success();
  }
  for (auto family : {batchMove, batchIndexed, batchContraction}) {
    std::optional<FailureOr<Batched>> result = family(op, operands, batch);
    if (!result) continue;
    if (failed(*result)) return failure();
    results.push_back(**result);
    return success();
  }
  return op->emitError() << "'" << op->getName()
                         << "' is not supported in a manual computation on values that differ between ranks; "
                            "compute it outside of shard_map";
}
