// Collectives of a manual computation as ops on leading dimensions: what they send is decided with everything else,
// when the graph is partitioned.
#include "dialects/sgd/placement_hints.h"
#include "dialects/spmd/spmd_dialect.h"
#include "passes/sharding/manual/batch_rule.h"

using namespace mlir;
using namespace mlir::sgd;

/// `count` equal values combined.
static Value combineEqual(Location loc, Value value, ReduceKind kind, int64_t count, OpBuilder& builder) {
  auto type = cast<RankedTensorType>(value.getType());
  auto splat = [&](int64_t number) -> Value {
    Type element = type.getElementType();
    // Integers wrap around, as the sum would.
    TypedAttr attribute =
        isa<FloatType>(element)
            ? TypedAttr(builder.getFloatAttr(element, static_cast<double>(number)))
            : builder.getIntegerAttr(element, APInt(64, number).zextOrTrunc(element.getIntOrFloatBitWidth()));
    return arith::ConstantOp::create(builder, loc, DenseElementsAttr::get(type, Attribute(attribute)));
  };
  switch (kind) {
    case ReduceKind::Add:
      return createCombiner(builder, loc, ReduceKind::Mul, value, splat(count));
    case ReduceKind::Mul: {
      Value product = value;
      for (int64_t i = 1; i < count; ++i) product = createCombiner(builder, loc, ReduceKind::Mul, product, value);
      return product;
    }
    case ReduceKind::Xor:
      return count % 2 == 1 ? value : splat(0);
    default:
      return value;  // max, min, and, or: of equal values the same
  }
}

/// Combines what the ranks along `axes` hold: the result is the same for all of them.
static Batched combine(Location loc, const Batched& input, ReduceKind kind, ArrayRef<unsigned> axes,
                       BatchBuilder& batch) {
  AxisIndices equal = without(axes, input.axes);
  AxisIndices remaining = without(input.axes, axes), reduced = without(input.axes, remaining);
  Value value = input.value;
  if (!reduced.empty()) {
    SmallVector<int64_t> dims;
    for (unsigned axis : reduced) dims.push_back(llvm::find(input.axes, axis) - input.axes.begin());
    auto own = RankedTensorType::get(input.getShape(), input.getType().getElementType());
    value = ReduceOp::create(batch.getBuilder(), loc, batch.getBatchedType(remaining, own), value, kind, dims);
  }
  if (!equal.empty()) value = combineEqual(loc, value, kind, batch.getNumRanks(equal), batch.getBuilder());
  return {value, remaining};
}

static Batched gatherAll(Location loc, const Batched& input, int64_t dim, ArrayRef<unsigned> axes,
                         BatchBuilder& batch) {
  SmallVector<int64_t> shape(input.getShape());
  shape[dim] *= batch.getNumRanks(axes);
  return batch.reshape(loc, batch.bringIn(loc, input, axes, dim), shape);
}

/// Dimension `dim` cut in as many parts as there are ranks along `axes`; rank i has part i.
static Batched scatterParts(Location loc, const Batched& input, int64_t dim, ArrayRef<unsigned> axes,
                            BatchBuilder& batch) {
  SmallVector<int64_t> shape(input.getShape()), sizes = batch.getSizes(axes);
  shape[dim] /= batch.getNumRanks(axes);
  shape.insert(shape.begin() + dim, sizes.begin(), sizes.end());
  return batch.takeOut(loc, batch.reshape(loc, input, shape), axes, dim);
}

static Batched batchAllToAll(spmd::AllToAllOp op, ArrayRef<Batched> operands, BatchBuilder& batch) {
  const Batched& input = operands[0];
  SmallVector<unsigned> axes = batch.getAxes(op.getAxes());
  Location loc = op.getLoc();
  int64_t split = op.getSplit(), concat = op.getConcat(), ranks = batch.getNumRanks(axes), count = axes.size();
  // [senders..., shape] -> senders in front of dimension `concat`, parts in front of what is left of `split`.
  Batched inside = batch.bringIn(loc, input, axes, concat);
  int64_t at = split >= concat ? split + count : split;
  SmallVector<int64_t> shape(inside.getShape()), sizes = batch.getSizes(axes);
  shape[at] /= ranks;
  shape.insert(shape.begin() + at, sizes.begin(), sizes.end());
  Batched parts = batch.takeOut(loc, batch.reshape(loc, inside, shape), axes, at);
  return batch.reshape(loc, parts, cast<RankedTensorType>(op.getType()).getShape());
}

/// Runs of ranks that receive from consecutive ranks, or from nobody: one slice, or one block of zeros, each.
static Batched batchPermutation(PermuteRanksOp op, ArrayRef<Batched> operands, BatchBuilder& batch) {
  const Batched& input = operands[0];
  SmallVector<unsigned> axes = batch.getAxes(op.getAxes());
  Location loc = op.getLoc();
  OpBuilder& builder = batch.getBuilder();
  int64_t ranks = batch.getNumRanks(axes);
  SmallVector<int64_t> sources(ranks, -1), shape(input.getShape());
  for (int64_t i = 0, size = op.getPairs().size(); i < size; i += 2) sources[op.getPairs()[i + 1]] = op.getPairs()[i];
  shape.insert(shape.begin(), ranks);
  Batched joined = batch.reshape(loc, batch.bringIn(loc, input, axes, 0), shape);
  int64_t dim = joined.axes.size();
  RankedTensorType type = joined.getType();
  SmallVector<int64_t> starts(type.getRank(), 0), limits(type.getShape()), strides(type.getRank(), 1);
  SmallVector<Value> runs;
  for (int64_t first = 0, next; first < ranks; first = next) {
    for (next = first + 1; next < ranks; ++next)
      if (sources[first] < 0 ? sources[next] >= 0 : sources[next] != sources[first] + next - first) break;
    SmallVector<int64_t> runShape(type.getShape());
    runShape[dim] = next - first;
    RankedTensorType runType = type.clone(runShape);
    starts[dim] = sources[first];
    limits[dim] = sources[first] + next - first;
    runs.push_back(sources[first] < 0
                       ? arith::ConstantOp::create(builder, loc, builder.getZeroAttr(runType)).getResult()
                       : SliceOp::create(builder, loc, runType, joined.value, starts, limits, strides).getResult());
  }
  Value moved = runs.size() == 1 ? runs[0] : ConcatenateOp::create(builder, loc, type, runs, dim).getResult();
  SmallVector<int64_t> split = batch.getSizes(axes);
  llvm::append_range(split, input.getShape());
  return batch.takeOut(loc, batch.reshape(loc, {moved, joined.axes}, split), axes, 0);
}

Batched mlir::sgd::takeFirst(Location loc, const Batched& input, ArrayRef<unsigned> axes, BatchBuilder& batch,
                             bool isUniform) {
  AxisIndices sliced = without(input.axes, without(input.axes, axes));
  if (sliced.empty()) return input;
  Batched inside = batch.bringIn(loc, input, sliced, 0);
  int64_t rank = inside.getType().getRank(), dim = inside.axes.size();
  SmallVector<int64_t> starts(rank, 0), limits(inside.getType().getShape()), strides(rank, 1);
  for (size_t i = 0; i < sliced.size(); ++i) limits[dim + i] = 1;
  auto first =
      SliceOp::create(batch.getBuilder(), loc, inside.getType().clone(limits), inside.value, starts, limits, strides);
  if (isUniform) setHint(first, kUniformAttr);
  return batch.reshape(loc, {first.getResult(), inside.axes}, input.getShape());
}

static SmallVector<Batched> batchAllReduce(spmd::AllReduceOp op, ArrayRef<Batched> operands, BatchBuilder& batch) {
  return llvm::map_to_vector(operands, [&](const Batched& operand) {
    return combine(op.getLoc(), operand, op.getKind(), batch.getAxes(op.getAxes()), batch);
  });
}

static SmallVector<Batched> batchReduceScatter(spmd::ReduceScatterOp op, ArrayRef<Batched> operands,
                                               BatchBuilder& batch) {
  SmallVector<unsigned> axes = batch.getAxes(op.getAxes());
  SmallVector<Batched> results;
  for (auto [operand, dim] : llvm::zip_equal(operands, op.getDims()))
    results.push_back(
        scatterParts(op.getLoc(), combine(op.getLoc(), operand, op.getKind(), axes, batch), dim, axes, batch));
  return results;
}

static SmallVector<Batched> batchAllGather(spmd::AllGatherOp op, ArrayRef<Batched> operands, BatchBuilder& batch) {
  SmallVector<Batched> results;
  for (auto [operand, dim] : llvm::zip_equal(operands, op.getDims()))
    results.push_back(gatherAll(op.getLoc(), operand, dim, batch.getAxes(op.getAxes()), batch));
  return results;
}

static Batched batchBroadcast(spmd::BroadcastOp op, ArrayRef<Batched> operands, BatchBuilder& batch) {
  return takeFirst(op.getLoc(), operands[0], batch.getAxes(op.getAxes()), batch);
}

void mlir::sgd::attachRankBatchRules(MLIRContext& context) {
  attachBatchRule<PermuteRanksOp, batchPermutation, /*isCollective=*/true>(context);
}

void mlir::sgd::attachCollectiveBatchRules(MLIRContext& context) {
  attachBatchRule<spmd::AllReduceOp, batchAllReduce, /*isCollective=*/true>(context);
  attachBatchRule<spmd::ReduceScatterOp, batchReduceScatter, /*isCollective=*/true>(context);
  attachBatchRule<spmd::AllGatherOp, batchAllGather, /*isCollective=*/true>(context);
  attachBatchRule<spmd::AllToAllOp, batchAllToAll, /*isCollective=*/true>(context);
  attachBatchRule<spmd::BroadcastOp, batchBroadcast, /*isCollective=*/true>(context);
}
