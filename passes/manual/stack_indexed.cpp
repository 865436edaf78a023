// Gather, scatter and dynamic slices: leading dimensions are batching dimensions of operand and indices.
#include "passes/manual/stack_op.h"

using namespace mlir;
using namespace mlir::sgd;

/// One leading dimension per axis, in every list of dimensions.
static SmallVector<int64_t> leadingDims(int64_t count) { return behind(count, {}); }

static Stacked stackGather(GatherOp op, Stacked input, Stacked indices, StackBuilder& stack) {
  Location loc = op.getLoc();
  AxisIndices axes = unite(input.axes, indices.axes);
  // Without them in the operand, the indices' leading dimensions are ordinary ones.
  bool isBatching = !input.isUniform();
  if (isBatching) input = stack.spread(loc, input, axes);
  indices = stack.spread(loc, indices, axes);
  int64_t count = axes.size(), operandCount = isBatching ? count : 0;
  SmallVector<int64_t> batching = leadingDims(operandCount);
  llvm::append_range(batching, shifted(operandCount, op.getOperandBatchingDims()));
  SmallVector<int64_t> indexBatching = leadingDims(operandCount);
  llvm::append_range(indexBatching, shifted(count, op.getIndicesBatchingDims()));
  return {
      GatherOp::create(stack.getBuilder(), loc, stack.getStackedType(axes, op.getType()), input.value, indices.value,
                       shifted(count, op.getOffsetDims()), shifted(operandCount, op.getCollapsedSliceDims()), batching,
                       indexBatching, shifted(operandCount, op.getStartIndexMap()), op.getIndexVectorDim() + count,
                       prefixed(operandCount, 1, op.getSliceSizes()), op.getUnsignedIndices()),
      axes};
}

static Stacked stackScatter(ScatterOp op, ArrayRef<Stacked> operands, StackBuilder& stack) {
  Location loc = op.getLoc();
  AxisIndices axes = uniteAxes(operands);
  SmallVector<Value> values =
      llvm::map_to_vector(operands, [&](const Stacked& operand) { return stack.spread(loc, operand, axes).value; });
  int64_t count = axes.size();
  return {ScatterOp::create(stack.getBuilder(), loc, values[0].getType(), values[0], values[1], values[2], op.getKind(),
                            shifted(count, op.getUpdateWindowDims()), shifted(count, op.getInsertedWindowDims()),
                            behind(count, op.getInputBatchingDims()), behind(count, op.getIndicesBatchingDims()),
                            shifted(count, op.getScatterDimsToOperandDims()), op.getIndexVectorDim() + count,
                            op.getUnsignedIndices(), op.getUniqueIndices()),
          axes};
}

/// Starts, which differ between ranks, as one index vector per rank; clamped so that blocks of `sizes` lie inside
/// `shape`.
static Stacked createStarts(Location loc, ArrayRef<Stacked> starts, ArrayRef<int64_t> shape, ArrayRef<int64_t> sizes,
                            StackBuilder& stack) {
  OpBuilder& builder = stack.getBuilder();
  AxisIndices axes = uniteAxes(starts);
  SmallVector<Value> components;
  Type element = builder.getI64Type();
  auto columnType = [&](Type type) { return stack.getStackedType(axes, RankedTensorType::get({1}, type)); };
  for (auto [start, bound, size] : llvm::zip(starts, shape, sizes)) {
    Stacked column = stack.reshape(loc, stack.spread(loc, start, axes), {1});
    Value value = column.value;
    if (column.getType().getElementType() != element)
      value = arith::ExtSIOp::create(builder, loc, columnType(element), value);
    auto splat = [&](int64_t number) {
      return arith::ConstantOp::create(builder, loc,
                                       DenseElementsAttr::get(columnType(element), builder.getI64IntegerAttr(number)));
    };
    value = arith::MaxSIOp::create(builder, loc, value, splat(0));
    components.push_back(arith::MinSIOp::create(builder, loc, value, splat(bound - size)));
  }
  int64_t count = components.size();
  if (count == 1) return {components[0], axes};
  RankedTensorType type = stack.getStackedType(axes, RankedTensorType::get({count}, element));
  return {ConcatenateOp::create(builder, loc, type, components, axes.size()), axes};
}

/// Starts that all ranks know, behind zeros for `count` leading dimensions.
static SmallVector<Value> createUniformStarts(Location loc, ArrayRef<Stacked> starts, int64_t count,
                                              StackBuilder& stack) {
  OpBuilder& builder = stack.getBuilder();
  SmallVector<Value> values;
  if (count > 0) {
    // A scalar has no starts whose type could be taken.
    Type type = starts.empty() ? RankedTensorType::get({}, builder.getI32Type()) : starts[0].value.getType();
    values.assign(count, arith::ConstantOp::create(builder, loc, builder.getZeroAttr(type)));
  }
  for (const Stacked& start : starts) values.push_back(start.value);
  return values;
}

static Stacked stackDynamicSlice(DynamicSliceOp op, ArrayRef<Stacked> operands, StackBuilder& stack) {
  Location loc = op.getLoc();
  const Stacked& input = operands[0];
  ArrayRef<Stacked> starts = operands.drop_front();
  ArrayRef<int64_t> shape = input.getShape();
  if (uniteAxes(starts).empty()) {
    SmallVector<int64_t> sizes = stack.getSizes(input.axes);
    llvm::append_range(sizes, op.getSizes());
    return {DynamicSliceOp::create(stack.getBuilder(), loc, stack.getStackedType(input.axes, op.getType()), input.value,
                                   createUniformStarts(loc, starts, input.axes.size(), stack), sizes),
            input.axes};
  }
  // One window per rank.
  Stacked indices = createStarts(loc, starts, shape, op.getSizes(), stack);
  AxisIndices axes = unite(input.axes, indices.axes);
  SmallVector<int64_t> all = leadingDims(shape.size());
  bool isBatching = !input.isUniform();
  Stacked table = isBatching ? stack.spread(loc, input, axes) : input;
  indices = stack.spread(loc, indices, axes);
  int64_t count = axes.size(), operandCount = isBatching ? count : 0;
  return {GatherOp::create(stack.getBuilder(), loc, stack.getStackedType(axes, op.getType()), table.value,
                           indices.value, shifted(count, all), ArrayRef<int64_t>{}, leadingDims(operandCount),
                           leadingDims(operandCount), shifted(operandCount, all), count,
                           prefixed(operandCount, 1, op.getSizes()), /*unsigned_indices=*/false),
          axes};
}

static Stacked stackDynamicUpdate(DynamicUpdateSliceOp op, ArrayRef<Stacked> operands, StackBuilder& stack) {
  Location loc = op.getLoc();
  ArrayRef<Stacked> starts = operands.drop_front(2);
  AxisIndices axes = uniteAxes(operands);
  ArrayRef<int64_t> shape = operands[0].getShape(), sizes = operands[1].getShape();
  Value input = stack.spread(loc, operands[0], axes).value, update = stack.spread(loc, operands[1], axes).value;
  int64_t count = axes.size();
  if (uniteAxes(starts).empty())
    return {DynamicUpdateSliceOp::create(stack.getBuilder(), loc, input.getType(), input, update,
                                         createUniformStarts(loc, starts, count, stack)),
            axes};
  Stacked indices = stack.spread(loc, createStarts(loc, starts, shape, sizes, stack), axes);
  SmallVector<int64_t> all = leadingDims(shape.size());
  return {ScatterOp::create(stack.getBuilder(), loc, input.getType(), input, indices.value, update, ScatterKind::Set,
                            shifted(count, all), ArrayRef<int64_t>{}, leadingDims(count), leadingDims(count),
                            shifted(count, all), count, /*unsigned_indices=*/false, /*unique_indices=*/true),
          axes};
}

std::optional<FailureOr<Stacked>> mlir::sgd::stackIndexed(Operation* op, ArrayRef<Stacked> operands,
                                                          StackBuilder& stack) {
  if (auto gather = dyn_cast<GatherOp>(op)) return stackGather(gather, operands[0], operands[1], stack);
  if (auto scatter = dyn_cast<ScatterOp>(op)) return stackScatter(scatter, operands, stack);
  if (auto slice = dyn_cast<DynamicSliceOp>(op)) return stackDynamicSlice(slice, operands, stack);
  if (auto update = dyn_cast<DynamicUpdateSliceOp>(op)) return stackDynamicUpdate(update, operands, stack);
  return std::nullopt;
}
