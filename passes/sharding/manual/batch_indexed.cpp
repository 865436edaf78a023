// Gather, scatter and dynamic slices: leading dimensions are batching dimensions of operand and indices.
#include "passes/sharding/manual/batch_rule.h"

using namespace mlir;
using namespace mlir::sgd;

/// One leading dimension per axis, in every list of dimensions.
static SmallVector<int64_t> leadingDims(int64_t count) { return behind(count, {}); }

static Batched batchGather(GatherOp op, ArrayRef<Batched> operands, BatchBuilder& batch) {
  Batched input = operands[0], indices = operands[1];
  Location loc = op.getLoc();
  AxisIndices axes = unite(input.axes, indices.axes);
  // Without them in the operand, the indices' leading dimensions are ordinary ones.
  bool isBatching = !input.isUniform();
  if (isBatching) input = batch.spread(loc, input, axes);
  indices = batch.spread(loc, indices, axes);
  int64_t count = axes.size(), operandCount = isBatching ? count : 0;
  SmallVector<int64_t> batching = leadingDims(operandCount);
  llvm::append_range(batching, shifted(operandCount, op.getOperandBatchingDims()));
  SmallVector<int64_t> indexBatching = leadingDims(operandCount);
  llvm::append_range(indexBatching, shifted(count, op.getIndicesBatchingDims()));
  return {
      GatherOp::create(batch.getBuilder(), loc, batch.getBatchedType(axes, op.getType()), input.value, indices.value,
                       shifted(count, op.getOffsetDims()), shifted(operandCount, op.getCollapsedSliceDims()), batching,
                       indexBatching, shifted(operandCount, op.getStartIndexMap()), op.getIndexVectorDim() + count,
                       prefixed(operandCount, 1, op.getSliceSizes()), op.getUnsignedIndices()),
      axes};
}

static Batched batchScatter(ScatterOp op, ArrayRef<Batched> operands, BatchBuilder& batch) {
  Location loc = op.getLoc();
  AxisIndices axes = uniteAxes(operands);
  SmallVector<Value> values =
      llvm::map_to_vector(operands, [&](const Batched& operand) { return batch.spread(loc, operand, axes).value; });
  int64_t count = axes.size();
  return {ScatterOp::create(batch.getBuilder(), loc, values[0].getType(), values[0], values[1], values[2], op.getKind(),
                            shifted(count, op.getUpdateWindowDims()), shifted(count, op.getInsertedWindowDims()),
                            behind(count, op.getInputBatchingDims()), behind(count, op.getIndicesBatchingDims()),
                            shifted(count, op.getScatterDimsToOperandDims()), op.getIndexVectorDim() + count,
                            op.getUnsignedIndices(), op.getUniqueIndices()),
          axes};
}

/// Starts, which differ between ranks, as one index vector per rank; clamped so that blocks of `sizes` are inside
/// `shape`.
static Batched createStarts(Location loc, ArrayRef<Batched> starts, ArrayRef<int64_t> shape, ArrayRef<int64_t> sizes,
                            BatchBuilder& batch) {
  OpBuilder& builder = batch.getBuilder();
  AxisIndices axes = uniteAxes(starts);
  SmallVector<Value> components;
  Type element = builder.getI64Type();
  auto columnType = [&](Type type) { return batch.getBatchedType(axes, RankedTensorType::get({1}, type)); };
  for (auto [start, bound, size] : llvm::zip(starts, shape, sizes)) {
    Batched column = batch.reshape(loc, batch.spread(loc, start, axes), {1});
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
  RankedTensorType type = batch.getBatchedType(axes, RankedTensorType::get({count}, element));
  return {ConcatenateOp::create(builder, loc, type, components, axes.size()), axes};
}

/// Starts that all ranks know, behind zeros for `count` leading dimensions.
static SmallVector<Value> createUniformStarts(Location loc, ArrayRef<Batched> starts, int64_t count,
                                              BatchBuilder& batch) {
  OpBuilder& builder = batch.getBuilder();
  SmallVector<Value> values;
  if (count > 0) {
    // A scalar has no starts whose type could be taken.
    Type type = starts.empty() ? RankedTensorType::get({}, builder.getI32Type()) : starts[0].value.getType();
    values.assign(count, arith::ConstantOp::create(builder, loc, builder.getZeroAttr(type)));
  }
  for (const Batched& start : starts) values.push_back(start.value);
  return values;
}

static Batched batchDynamicSlice(DynamicSliceOp op, ArrayRef<Batched> operands, BatchBuilder& batch) {
  Location loc = op.getLoc();
  const Batched& input = operands[0];
  ArrayRef<Batched> starts = operands.drop_front();
  ArrayRef<int64_t> shape = input.getShape();
  if (uniteAxes(starts).empty()) {
    SmallVector<int64_t> sizes = batch.getSizes(input.axes);
    llvm::append_range(sizes, op.getSizes());
    return {DynamicSliceOp::create(batch.getBuilder(), loc, batch.getBatchedType(input.axes, op.getType()), input.value,
                                   createUniformStarts(loc, starts, input.axes.size(), batch), sizes),
            input.axes};
  }
  // One window per rank.
  Batched indices = createStarts(loc, starts, shape, op.getSizes(), batch);
  AxisIndices axes = unite(input.axes, indices.axes);
  SmallVector<int64_t> all = leadingDims(shape.size());
  bool isBatching = !input.isUniform();
  Batched table = isBatching ? batch.spread(loc, input, axes) : input;
  indices = batch.spread(loc, indices, axes);
  int64_t count = axes.size(), operandCount = isBatching ? count : 0;
  return {GatherOp::create(batch.getBuilder(), loc, batch.getBatchedType(axes, op.getType()), table.value,
                           indices.value, shifted(count, all), ArrayRef<int64_t>{}, leadingDims(operandCount),
                           leadingDims(operandCount), shifted(operandCount, all), count,
                           prefixed(operandCount, 1, op.getSizes()), /*unsigned_indices=*/false),
          axes};
}

static Batched batchDynamicUpdate(DynamicUpdateSliceOp op, ArrayRef<Batched> operands, BatchBuilder& batch) {
  Location loc = op.getLoc();
  ArrayRef<Batched> starts = operands.drop_front(2);
  AxisIndices axes = uniteAxes(operands);
  ArrayRef<int64_t> shape = operands[0].getShape(), sizes = operands[1].getShape();
  Value input = batch.spread(loc, operands[0], axes).value, update = batch.spread(loc, operands[1], axes).value;
  int64_t count = axes.size();
  if (uniteAxes(starts).empty())
    return {DynamicUpdateSliceOp::create(batch.getBuilder(), loc, input.getType(), input, update,
                                         createUniformStarts(loc, starts, count, batch)),
            axes};
  Batched indices = batch.spread(loc, createStarts(loc, starts, shape, sizes, batch), axes);
  SmallVector<int64_t> all = leadingDims(shape.size());
  return {ScatterOp::create(batch.getBuilder(), loc, input.getType(), input, indices.value, update, ScatterKind::Set,
                            shifted(count, all), ArrayRef<int64_t>{}, leadingDims(count), leadingDims(count),
                            shifted(count, all), count, /*unsigned_indices=*/false, /*unique_indices=*/true),
          axes};
}

void mlir::sgd::attachIndexedBatchRules(MLIRContext& context) {
  attachBatchRule<GatherOp, batchGather>(context);
  attachBatchRule<ScatterOp, batchScatter>(context);
  attachBatchRule<DynamicSliceOp, batchDynamicSlice>(context);
  attachBatchRule<DynamicUpdateSliceOp, batchDynamicUpdate>(context);
}
