// Reductions, softmax, the largest elements.
#include "dialects/sgd/no_gradient.h"
#include "frontends/torch/aten_op.h"

using namespace mlir;
using namespace mlir::sgd;
using namespace mlir::sgd::torch;

Value mlir::sgd::torch::writeSoftmax(TensorMath& math, Value value, int64_t dim, bool isLogarithm) {
  ArrayRef<int64_t> shape = shapeOf(value);
  if (shape.empty()) return math.splat(tensorType(value), isLogarithm ? 0.0 : 1.0);
  // The result does not depend on what is subtracted, so the gradient need not go through it.
  Value largest = math.reduce(value, ReduceKind::Max, dim);
  largest.getDefiningOp()->setAttr(kNoGradientAttr, math.getBuilder().getUnitAttr());
  SmallVector<int64_t> one(shape);
  one[dim] = 1;
  Value shifted = math.subtract(value, stretch(math, math.reshape(largest, one), shape));
  Value exponential = math.exponential(shifted);
  Value sum = reduceKeeping(math, exponential, ReduceKind::Add, dim);
  if (!isLogarithm) return math.divide(exponential, stretch(math, sum, shape));
  return math.subtract(shifted, stretch(math, math.create<math::LogOp>(sum), shape));
}

namespace {

/// The dimensions of `dim` or `dims`, all where there are none.
SmallVector<int64_t> getDims(AtenOp& op, Value value) {
  int64_t rank = tensorType(value).getRank();
  SmallVector<int64_t> dims = op.integers("dim");
  if (dims.empty()) return llvm::to_vector(llvm::seq<int64_t>(0, rank));
  for (int64_t& dim : dims) dim = wrapDim(dim, rank);
  llvm::sort(dims);
  return dims;
}

Value reduce(AtenOp& op, Value value, ReduceKind kind, ArrayRef<int64_t> dims) {
  if (tensorType(value).getRank() == 0) return value;
  return op.math.reshape(op.math.reduce(value, kind, dims), op.type().getShape());
}

int64_t countElements(Value value, ArrayRef<int64_t> dims) {
  int64_t count = 1;
  for (int64_t dim : dims)
    if (tensorType(value).getRank()) count *= shapeOf(value)[dim];
  return count;
}

template <ReduceKind kind>
LogicalResult lowerReduce(AtenOp& op) {
  Value value = op.convert(op.tensor("self"), op.element());
  return op.finish(reduce(op, value, kind, getDims(op, value)));
}

LogicalResult lowerMean(AtenOp& op) {
  Value value = op.convert(op.tensor("self"), op.element());
  SmallVector<int64_t> dims = getDims(op, value);
  Value sum = reduce(op, value, ReduceKind::Add, dims);
  return op.finish(op.math.divide(sum, op.splat(static_cast<double>(countElements(value, dims)))));
}

/// With `correction` fewer elements than there are, one by default.
Value getVariance(AtenOp& op) {
  Value value = op.convert(op.tensor("self"), op.element());
  SmallVector<int64_t> dims = getDims(op, value);
  double count = static_cast<double>(countElements(value, dims));
  double correction = op.has("correction") ? op.number("correction", 1) : op.flag("unbiased", true) ? 1 : 0;
  Value mean = reduceKeeping(op.math, value, ReduceKind::Add, dims);
  mean = op.math.divide(mean, op.math.splat(tensorType(mean), count));
  Value distance = op.math.subtract(value, stretch(op.math, mean, shapeOf(value)));
  Value sum = reduce(op, op.math.multiply(distance, distance), ReduceKind::Add, dims);
  return op.math.divide(sum, op.splat(std::max(0.0, count - correction)));
}
LogicalResult lowerVariance(AtenOp& op) { return op.finish(getVariance(op)); }
LogicalResult lowerDeviation(AtenOp& op) { return op.finish(op.math.create<math::SqrtOp>(getVariance(op))); }

template <bool isLogarithm>
LogicalResult lowerSoftmax(AtenOp& op) {
  Value value = op.convert(op.tensor("self"), op.element());
  return op.finish(
      writeSoftmax(op.math, value, wrapDim(op.integer("dim", -1), tensorType(value).getRank()), isLogarithm));
}

LogicalResult lowerLogSumExp(AtenOp& op) {
  Value value = op.convert(op.tensor("self"), op.element());
  SmallVector<int64_t> dims = getDims(op, value);
  Value largest = reduceKeeping(op.math, value, ReduceKind::Max, dims);
  Value shifted = op.math.subtract(value, stretch(op.math, largest, shapeOf(value)));
  Value sum = reduceKeeping(op.math, op.math.exponential(shifted), ReduceKind::Add, dims);
  return op.finish(op.math.reshape(op.math.add(op.math.create<math::LogOp>(sum), largest), op.type().getShape()));
}

/// The largest elements of the last dimension, or, negated, the smallest.
LogicalResult lowerTopK(AtenOp& op) {
  Value value = op.tensor("self");
  int64_t rank = tensorType(value).getRank(), dim = wrapDim(op.integer("dim", -1), rank);
  if (!op.flag("largest", true) || rank == 0)
    return op.error() << "looks for the smallest elements, or in a scalar, which is not supported; negate the operand";
  auto order = llvm::to_vector(llvm::seq<int64_t>(0, rank));
  std::swap(order[dim], order[rank - 1]);
  Value moved = dim == rank - 1 ? value : op.math.transpose(value, order);
  SmallVector<int64_t> shape(shapeOf(moved));
  int64_t k = op.integer("k", 1);
  shape.back() = k;
  RankedTensorType values = tensorType(moved).clone(shape),
                   positions = RankedTensorType::get(shape, op.math.getBuilder().getI32Type());
  auto top = TopKOp::create(op.math.getBuilder(), op.math.getLoc(), TypeRange{values, positions}, moved, k,
                            /*unsigned_elements=*/false);
  auto restore = [&](Value result) { return dim == rank - 1 ? result : op.math.transpose(result, order); };
  (void)op.finish(restore(top.getValues()), 0);
  return op.finish(op.convert(restore(top.getPositions()), op.element(1)), 1);
}

/// The first position of the largest element.
template <ReduceKind kind>
Value findPosition(AtenOp& op, Value value, ArrayRef<int64_t> dims, Type element) {
  Value extremum = stretch(op.math, reduceKeeping(op.math, value, kind, dims), shapeOf(value));
  RankedTensorType numbers = tensorType(value).clone(op.math.getBuilder().getI32Type());
  Value position = op.math.create<IotaOp>(numbers, dims.front());
  Value none = op.constant(numbers, static_cast<double>(shapeOf(value)[dims.front()]));
  Value candidates = op.math.select(op.math.isEqual(value, extremum), position, none);
  return op.convert(op.math.reduce(candidates, ReduceKind::Min, dims), element);
}

template <ReduceKind kind>
LogicalResult lowerArgument(AtenOp& op) {
  Value value = op.tensor("self");
  if (!op.has("dim")) value = op.math.reshape(value, {tensorType(value).getNumElements()});
  int64_t dim = op.has("dim") ? wrapDim(op.integer("dim", 0), tensorType(value).getRank()) : 0;
  return op.finish(op.math.reshape(findPosition<kind>(op, value, dim, op.element()), op.type().getShape()));
}

/// max.dim and min.dim: values with positions.
template <ReduceKind kind>
LogicalResult lowerExtremum(AtenOp& op) {
  Value value = op.tensor("self");
  int64_t dim = wrapDim(op.integer("dim", 0), tensorType(value).getRank());
  (void)op.finish(op.math.reshape(op.math.reduce(value, kind, dim), op.type(0).getShape()), 0);
  return op.finish(op.math.reshape(findPosition<kind>(op, value, dim, op.element(1)), op.type(1).getShape()), 1);
}

LogicalResult lowerCumulativeSum(AtenOp& op) {
  Value value = op.convert(op.tensor("self"), op.element());
  if (tensorType(value).getRank() == 0) return op.finish(value);
  int64_t dim = wrapDim(op.integer("dim", 0), tensorType(value).getRank());
  return op.finish(op.math.create<CumulativeOp>(op.type(), value, ReduceKind::Add, dim, /*reverse=*/false));
}

/// Booleans: whether any, or all, are true.
template <ReduceKind kind>
LogicalResult lowerLogical(AtenOp& op) {
  Value value = op.convert(op.tensor("self"), op.math.getBuilder().getI1Type());
  return op.finish(reduce(op, value, kind, getDims(op, value)));
}

/// The root of the sum of squares.
LogicalResult lowerNorm(AtenOp& op) {
  Value value = op.convert(op.tensor("self"), op.element());
  double order = op.has("ord") ? op.number("ord", 2) : op.number("p", 2);
  SmallVector<int64_t> dims = getDims(op, value);
  if (order == 1) return op.finish(reduce(op, op.math.absolute(value), ReduceKind::Add, dims));
  if (order != 2) return op.error() << "is of order " << order << "; expected 1 or 2; write it by powers and sums";
  return op.finish(op.math.create<math::SqrtOp>(reduce(op, op.math.multiply(value, value), ReduceKind::Add, dims)));
}

}  // namespace

void mlir::sgd::torch::addReductionOps(OpTable& table) {
  auto add = [&](std::initializer_list<StringRef> names, const OpEntry& entry) {
    for (StringRef name : names) table[name] = entry;
  };
  add({"sum.default", "sum.dim_IntList"}, lowerReduce<ReduceKind::Add>);
  add({"prod.default", "prod.dim_int"}, lowerReduce<ReduceKind::Mul>);
  add({"amax.default", "max.default"}, lowerReduce<ReduceKind::Max>);
  add({"amin.default", "min.default"}, lowerReduce<ReduceKind::Min>);
  add({"mean.default", "mean.dim"}, lowerMean);
  add({"var.default", "var.dim", "var.correction"}, lowerVariance);
  add({"std.default", "std.dim", "std.correction"}, lowerDeviation);
  add({"softmax.int", "_softmax.default"}, lowerSoftmax<false>);
  add({"log_softmax.int", "_log_softmax.default"}, lowerSoftmax<true>);
  add({"logsumexp.default"}, lowerLogSumExp);
  add({"topk.default"}, lowerTopK);
  add({"argmax.default"}, lowerArgument<ReduceKind::Max>);
  add({"argmin.default"}, lowerArgument<ReduceKind::Min>);
  add({"max.dim"}, lowerExtremum<ReduceKind::Max>);
  add({"min.dim"}, lowerExtremum<ReduceKind::Min>);
  add({"cumsum.default"}, lowerCumulativeSum);
  add({"any.default", "any.dim", "any.dims"}, lowerLogical<ReduceKind::Or>);
  add({"all.default", "all.dim", "all.dims"}, lowerLogical<ReduceKind::And>);
  add({"norm.Scalar", "norm.ScalarOpt_dim", "linalg_vector_norm.default"}, lowerNorm);
}
