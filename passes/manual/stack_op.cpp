// Dispatch, ops that are the same on stacked values, and ops that only need their dimensions renumbered.
#include "passes/manual/stack_op.h"

#include <numeric>

#include "dialects/sgd/grouped_dot.h"
#include "dialects/sgd/linear_algebra.h"
#include "dialects/sgd/sharding_rule.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::sgd;

AxisIndices mlir::sgd::uniteAxes(ArrayRef<Stacked> operands) {
  AxisIndices axes;
  for (const Stacked& operand : operands) axes = unite(axes, operand.axes);
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
static Operation* cloneWith(Operation* op, ValueRange operands, ArrayRef<unsigned> axes, StackBuilder& stack) {
  Operation* copy = stack.getBuilder().clone(*op);
  copy->setOperands(operands);
  for (OpResult result : copy->getResults()) result.setType(stack.getStackedType(axes, result.getType()));
  return copy;
}

static SmallVector<Value> spreadAll(Location loc, ArrayRef<Stacked> operands, ArrayRef<unsigned> axes,
                                    StackBuilder& stack) {
  return llvm::map_to_vector(operands, [&](const Stacked& operand) { return stack.spread(loc, operand, axes).value; });
}

static void appendResults(Operation* op, const AxisIndices& axes, SmallVectorImpl<Stacked>& results) {
  for (Value result : op->getResults()) results.push_back({result, axes});
}

/// Ops whose attributes are lists over dimensions.
static Stacked stackPad(PadOp op, const Stacked& input, const Stacked& value, StackBuilder& stack) {
  int64_t count = input.axes.size();
  auto pad = [&](Value padded, Value with) {
    auto element = cast<RankedTensorType>(padded.getType()).getElementType();
    RankedTensorType type = stack.getStackedType(input.axes, op.getType()).clone(element);
    return PadOp::create(stack.getBuilder(), op.getLoc(), type, padded, with, prefixed(count, 0, op.getLow()),
                         prefixed(count, 0, op.getHigh()), prefixed(count, 0, op.getInterior()));
  };
  if (value.isUniform()) return {pad(input.value, value.value), input.axes};
  // Each rank has a value of its own: padded with anything, then chosen where nothing of the input lies.
  OpBuilder& builder = stack.getBuilder();
  auto constant = [&](RankedTensorType type, bool number) -> Value {
    Attribute element = builder.getIntegerAttr(type.getElementType(), number ? 1 : 0);
    return arith::ConstantOp::create(builder, op.getLoc(), DenseElementsAttr::get(type, element));
  };
  Type flag = builder.getI1Type();
  Value isInput = pad(constant(input.getType().clone(flag), true), constant(RankedTensorType::get({}, flag), false));
  auto scalar = RankedTensorType::get({}, input.getType().getElementType());
  Value zero = arith::ConstantOp::create(builder, op.getLoc(), cast<TypedAttr>(builder.getZeroAttr(scalar)));
  AxisIndices axes = unite(input.axes, value.axes);
  Stacked spreadValue = stack.spread(op.getLoc(), value, axes);
  Value values = BroadcastInDimOp::create(builder, op.getLoc(), stack.getStackedType(axes, op.getType()),
                                          spreadValue.value, behind(axes.size(), {}));
  Value padded = stack.spread(op.getLoc(), {pad(input.value, zero), input.axes}, axes).value;
  Value mask = stack.spread(op.getLoc(), {isInput, input.axes}, axes).value;
  return {arith::SelectOp::create(builder, op.getLoc(), mask, padded, values), axes};
}

static Stacked stackSlice(SliceOp op, const Stacked& input, StackBuilder& stack) {
  int64_t count = input.axes.size();
  SmallVector<int64_t> limits = stack.getSizes(input.axes);
  llvm::append_range(limits, op.getLimits());
  return {SliceOp::create(stack.getBuilder(), op.getLoc(), stack.getStackedType(input.axes, op.getType()), input.value,
                          prefixed(count, 0, op.getStarts()), limits, prefixed(count, 1, op.getStrides())),
          input.axes};
}

static Stacked stackConcatenate(ConcatenateOp op, ArrayRef<Stacked> operands, StackBuilder& stack) {
  AxisIndices axes = uniteAxes(operands);
  return {ConcatenateOp::create(stack.getBuilder(), op.getLoc(), stack.getStackedType(axes, op.getType()),
                                spreadAll(op.getLoc(), operands, axes, stack), op.getDimension() + axes.size()),
          axes};
}

/// The annotation of what each rank sees, behind the leading dimensions, which lie where the ranks do.
static Stacked stackConstraint(ShardingConstraintOp op, const Stacked& input, StackBuilder& stack) {
  ShardingAttr sharding = op.getSharding();
  SmallVector<DimShardingAttr> dims;
  for (unsigned axis : input.axes) dims.push_back(stack.getDimSharding(axis));
  llvm::append_range(dims, sharding.getDims());
  auto stacked = ShardingAttr::get(op.getContext(), sharding.getMesh(), dims, sharding.getReplicated(),
                                   sharding.getUnreduced(), sharding.getUnreducedKind());
  return {ShardingConstraintOp::create(stack.getBuilder(), op.getLoc(), input.value, stacked), input.axes};
}

std::optional<FailureOr<Stacked>> mlir::sgd::stackMove(Operation* op, ArrayRef<Stacked> operands, StackBuilder& stack) {
  using Result = std::optional<FailureOr<Stacked>>;
  OpBuilder& builder = stack.getBuilder();
  Location loc = op->getLoc();
  // Of the first operand: ops of several operands look themselves.
  ArrayRef<unsigned> axes = operands.empty() ? ArrayRef<unsigned>() : ArrayRef<unsigned>(operands[0].axes);
  Value input = operands.empty() ? Value() : operands[0].value;
  int64_t count = axes.size();
  auto typeOf = [&](Operation* moved) { return stack.getStackedType(axes, moved->getResult(0).getType()); };
  return llvm::TypeSwitch<Operation*, Result>(op)
      .Case([&](BroadcastInDimOp move) {
        return Stacked{BroadcastInDimOp::create(builder, loc, typeOf(op), input, behind(count, move.getDims())),
                       AxisIndices(axes)};
      })
      .Case([&](TransposeOp move) {
        return Stacked{TransposeOp::create(builder, loc, typeOf(op), input, behind(count, move.getPermutation())),
                       AxisIndices(axes)};
      })
      .Case([&](ReshapeOp) { return Stacked{ReshapeOp::create(builder, loc, typeOf(op), input), AxisIndices(axes)}; })
      .Case([&](SliceOp move) { return stackSlice(move, operands[0], stack); })
      .Case([&](PadOp move) { return stackPad(move, operands[0], operands[1], stack); })
      .Case([&](ConcatenateOp move) { return stackConcatenate(move, operands, stack); })
      .Case([&](ReverseOp move) {
        return Stacked{ReverseOp::create(builder, loc, input, shifted(count, move.getDimensions())), AxisIndices(axes)};
      })
      .Case([&](ReduceOp reduce) {
        return Stacked{
            ReduceOp::create(builder, loc, typeOf(op), input, reduce.getKind(), shifted(count, reduce.getDimensions())),
            AxisIndices(axes)};
      })
      .Case([&](ShardingConstraintOp constraint) { return stackConstraint(constraint, operands[0], stack); })
      .Default([](Operation*) { return std::nullopt; });
}

static bool isElementwise(Operation* op) {
  auto ruled = dyn_cast<ShardingRuleOpInterface>(op);
  return ruled && ruled.getShardingRule().isElementwise;
}

LogicalResult mlir::sgd::stackOp(Operation* op, ArrayRef<Stacked> operands, StackBuilder& stack,
                                 SmallVectorImpl<Stacked>& results) {
  if (auto collective = stackCollective(op, operands, stack)) {
    llvm::append_range(results, *collective);
    return success();
  }
  AxisIndices axes = uniteAxes(operands);
  if (auto barrier = dyn_cast<OptimizationBarrierOp>(op)) {
    SmallVector<Value> values = llvm::map_to_vector(operands, [](const Stacked& operand) { return operand.value; });
    Operation* copy =
        OptimizationBarrierOp::create(stack.getBuilder(), op->getLoc(), TypeRange(ValueRange(values)), values);
    for (auto [result, operand] : llvm::zip(copy->getResults(), operands)) results.push_back({result, operand.axes});
    return success();
  }
  // Equal on all ranks, or the same op for each element.
  bool isConstraint = isa<ShardingConstraintOp>(op);
  if ((op->getNumRegions() == 0 || op->hasTrait<OpTrait::IsIsolatedFromAbove>()) && !isConstraint &&
      (axes.empty() || isElementwise(op))) {
    appendResults(cloneWith(op, spreadAll(op->getLoc(), operands, axes, stack), axes, stack), axes, results);
    return success();
  }
  // Rows are ordered or summed as before, and matrices decomposed or multiplied: there are more of them.
  if (isa<SortOp, TopKOp, CumulativeOp, LinearAlgebraOp, GroupedDotOp>(op)) {
    Operation* copy = cloneWith(op, spreadAll(op->getLoc(), operands, axes, stack), axes, stack);
    if (auto sort = dyn_cast<SortOp>(copy)) sort.setDimension(sort.getDimension() + axes.size());
    if (auto sums = dyn_cast<CumulativeOp>(copy)) sums.setDimension(sums.getDimension() + axes.size());
    appendResults(copy, axes, results);
    return success();
  }
  for (auto family : {stackMove, stackIndexed, stackContraction}) {
    std::optional<FailureOr<Stacked>> result = family(op, operands, stack);
    if (!result) continue;
    if (failed(*result)) return failure();
    results.push_back(**result);
    return success();
  }
  return op->emitError() << "'" << op->getName()
                         << "' is not supported in a manual computation on values that differ between ranks; "
                            "compute it outside of shard_map";
}
