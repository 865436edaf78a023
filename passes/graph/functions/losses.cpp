// Means are over all elements that count, of all ranks and parts of the batch.
#include "passes/graph/functions/losses.h"

#include "dialects/sgd/no_gradient.h"
#include "passes/graph/functions/special_functions.h"

using namespace mlir;
using namespace mlir::sgd;

namespace {

SmallVector<int64_t> getAllDims(Value value) {
  return llvm::to_vector(llvm::seq<int64_t>(0, tensorType(value).getRank()));
}

/// Repeats a value without `dim` along it.
Value repeatAlong(TensorMath& math, Value value, int64_t dim, ArrayRef<int64_t> shape) {
  auto dims = llvm::to_vector(llvm::seq<int64_t>(0, shape.size()));
  llvm::erase(dims, dim);
  return math.broadcast(value, dims, shape);
}

Value number(TensorMath& math, double value, Value like) { return math.splat(tensorType(like), value); }

/// The number of each element along `dim`, in the type of labels.
Value getPositions(TensorMath& math, Value scores, int64_t dim, Type element) {
  return math.create<IotaOp>(tensorType(scores).clone(element), dim);
}

Value isCounted(TensorMath& math, Value labels, const LabelOptions& options) {
  return math.negate(math.isEqual(labels, math.splat(tensorType(labels), options.ignored)));
}

}  // namespace

Value mlir::sgd::writeSoftmax(TensorMath& math, Value value, int64_t dim, bool isLogarithm) {
  ArrayRef<int64_t> shape = tensorType(value).getShape();
  if (shape.empty()) return number(math, isLogarithm ? 0 : 1, value);
  // The result does not depend on what is subtracted, so the gradient need not go through it.
  Value largest = math.reduce(value, ReduceKind::Max, dim);
  largest.getDefiningOp()->setAttr(kNoGradientAttr, math.getBuilder().getUnitAttr());
  Value shifted = math.subtract(value, repeatAlong(math, largest, dim, shape));
  Value exponential = math.exponential(shifted);
  Value sum = math.reduce(exponential, ReduceKind::Add, dim);
  if (!isLogarithm) return math.divide(exponential, repeatAlong(math, sum, dim, shape));
  return math.subtract(shifted, repeatAlong(math, math.create<math::LogOp>(sum), dim, shape));
}

Value mlir::sgd::writeSum(TensorMath& math, Value value) {
  return tensorType(value).getRank() ? math.reduce(value, ReduceKind::Add, getAllDims(value)) : value;
}

Value mlir::sgd::writeMean(TensorMath& math, const Losses& losses) {
  Value sum = writeSum(math, losses.losses);
  Value count = losses.counts ? writeSum(math, losses.counts)
                              : number(math, static_cast<double>(tensorType(losses.losses).getNumElements()), sum);
  return math.divide(sum, count);
}

Losses mlir::sgd::writeLabelLosses(TensorMath& math, Value logs, Value labels, const LabelOptions& options) {
  RankedTensorType type = tensorType(logs);
  ArrayRef<int64_t> shape = type.getShape();
  Value everywhere = repeatAlong(math, labels, options.dim, shape);
  Value isClass = math.isEqual(everywhere, getPositions(math, logs, options.dim, tensorType(labels).getElementType()));
  Value zero = number(math, 0, logs), counted = isCounted(math, labels, options);
  auto weigh = [&](Value values) {
    return options.weights ? math.multiply(values, math.broadcast(options.weights, options.dim, shape)) : values;
  };
  auto sumUp = [&](Value values) { return math.reduce(values, ReduceKind::Add, options.dim); };
  auto count = [&](Value values) { return math.select(counted, values, number(math, 0, values)); };
  Value losses = count(math.minus(sumUp(math.select(isClass, weigh(logs), zero))));
  Value ones = math.splat(tensorType(losses), 1.0);
  Value counts = count(options.weights ? sumUp(math.select(isClass, weigh(number(math, 1, logs)), zero)) : ones);
  if (options.smoothing > 0) {
    Value all = count(math.minus(sumUp(weigh(logs))));
    double classes = static_cast<double>(shape[options.dim]);
    losses = math.add(math.multiply(losses, number(math, 1 - options.smoothing, losses)),
                      math.multiply(all, number(math, options.smoothing / classes, all)));
  }
  return {losses, counts};
}

Value mlir::sgd::writeSoftLabelLosses(TensorMath& math, Value logs, Value targets, int64_t dim, double smoothing) {
  if (smoothing > 0) {
    double classes = static_cast<double>(tensorType(logs).getDimSize(dim));
    targets = math.add(math.multiply(targets, number(math, 1 - smoothing, targets)),
                       number(math, smoothing / classes, targets));
  }
  return math.minus(math.reduce(math.multiply(logs, targets), ReduceKind::Add, dim));
}

/// (1 - y) x + softplus(-x) is -log of the sigmoid where y is 1, and -log of the rest where it is 0.
Value mlir::sgd::writeBinaryLosses(TensorMath& math, Value logits, Value targets, Value positiveWeights) {
  Value one = number(math, 1, logits), tail = writeSoftplus(math, math.minus(logits));
  if (positiveWeights) {
    Value more = math.multiply(math.subtract(positiveWeights, one), targets);
    tail = math.multiply(tail, math.add(one, more));
  }
  return math.add(math.multiply(math.subtract(one, targets), logits), tail);
}

Losses mlir::sgd::writeHits(TensorMath& math, Value scores, Value labels, const LabelOptions& options) {
  RankedTensorType type = tensorType(scores);
  Value positions = getPositions(math, scores, options.dim, tensorType(labels).getElementType());
  Value largest = repeatAlong(math, math.reduce(scores, ReduceKind::Max, options.dim), options.dim, type.getShape());
  Value none = math.splat(tensorType(positions), type.getDimSize(options.dim));
  // The first of equal scores, as argmax.
  Value first = math.reduce(math.select(math.isEqual(scores, largest), positions, none), ReduceKind::Min, options.dim);
  Value counted = isCounted(math, labels, options), isHit = math.both(counted, math.isEqual(first, labels));
  RankedTensorType floats = tensorType(labels).clone(type.getElementType());
  return {math.create<arith::UIToFPOp>(floats, isHit), math.create<arith::UIToFPOp>(floats, counted)};
}
