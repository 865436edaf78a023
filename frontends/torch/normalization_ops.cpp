// Normalizations. Statistics are those of the whole batch, of all ranks.
#include "frontends/torch/aten_op.h"

using namespace mlir;
using namespace mlir::sgd;
using namespace mlir::sgd::torch;

namespace {

/// Statistics over `dims`, which stay with size 1.
struct Moments {
  Value mean, variance;
  double count;
};

Moments getMoments(TensorMath& math, Value value, ArrayRef<int64_t> dims) {
  double count = 1;
  for (int64_t dim : dims) count *= static_cast<double>(shapeOf(value)[dim]);
  auto average = [&](Value of) {
    Value sum = reduceKeeping(math, of, ReduceKind::Add, dims);
    return math.divide(sum, math.splat(tensorType(sum), count));
  };
  Value mean = average(value), distance = math.subtract(value, stretch(math, mean, shapeOf(value)));
  return {mean, average(math.multiply(distance, distance)), count};
}

Value getInverseDeviation(TensorMath& math, Value variance, double eps) {
  return math.inverseRoot(math.add(variance, math.splat(tensorType(variance), eps)));
}

/// (value - mean) * inverse deviation.
Value standardize(TensorMath& math, Value value, Value mean, Value inverse) {
  Value distance = math.subtract(value, stretch(math, mean, shapeOf(value)));
  return math.multiply(distance, stretch(math, inverse, shapeOf(value)));
}

/// value * weight + bias, both repeated along all dimensions but `dims`; nothing for None.
Value scaleAndShift(AtenOp& op, Value value, ArrayRef<int64_t> dims) {
  auto repeat = [&](Value tensor) {
    // A weight of other dimensions does not fit; the op's verifier says so.
    if (tensorType(tensor).getRank() != static_cast<int64_t>(dims.size())) return tensor;
    return op.math.broadcast(op.convert(tensor, tensorType(value).getElementType()), dims, shapeOf(value));
  };
  if (Value weight = op.tensor("weight")) value = op.math.multiply(value, repeat(weight));
  if (Value bias = op.tensor("bias")) value = op.math.add(value, repeat(bias));
  return value;
}

/// The last dimensions, as many as `normalized_shape` has.
SmallVector<int64_t> getLastDims(AtenOp& op, Value value) {
  int64_t rank = tensorType(value).getRank(), count = std::min<int64_t>(rank, op.integers("normalized_shape").size());
  return llvm::to_vector(llvm::seq<int64_t>(rank - count, rank));
}

/// Narrow floats are normalized in f32.
Value widen(AtenOp& op, Value value) {
  bool isNarrow = tensorType(value).getElementTypeBitWidth() < 32;
  return isNarrow ? op.convert(value, op.math.getBuilder().getF32Type()) : value;
}

LogicalResult lowerLayerNorm(AtenOp& op) {
  Value value = widen(op, op.tensor("input"));
  SmallVector<int64_t> dims = getLastDims(op, value);
  Moments moments = getMoments(op.math, value, dims);
  Value inverse = getInverseDeviation(op.math, moments.variance, op.number("eps", 1e-5));
  Value scaled = scaleAndShift(op, standardize(op.math, value, moments.mean, inverse), dims);
  (void)op.finish(op.convert(scaled, op.element()));
  if (op.getNumOutputs() == 3) {
    (void)op.finish(op.convert(moments.mean, op.element(1)), 1);
    (void)op.finish(op.convert(inverse, op.element(2)), 2);
  }
  return success();
}

LogicalResult lowerRmsNorm(AtenOp& op) {
  Value value = widen(op, op.tensor("input"));
  SmallVector<int64_t> dims = getLastDims(op, value);
  double count = 1;
  for (int64_t dim : dims) count *= static_cast<double>(shapeOf(value)[dim]);
  Value sum = reduceKeeping(op.math, op.math.multiply(value, value), ReduceKind::Add, dims);
  Value mean = op.math.divide(sum, op.math.splat(tensorType(sum), count));
  // PyTorch's default is the smallest difference from 1 of the type.
  double eps = op.has("eps") ? op.number("eps", 0) : tensorType(value).getElementType().isF64() ? 0x1p-52 : 0x1p-23;
  Value scaled = op.math.multiply(value, stretch(op.math, getInverseDeviation(op.math, mean, eps), shapeOf(value)));
  return op.finish(op.convert(scaleAndShift(op, scaled, dims), op.element()));
}

LogicalResult lowerGroupNorm(AtenOp& op) {
  Value value = widen(op, op.tensor("input"));
  if (op.integer("num_groups", 1) < 1 || shapeOf(value)[1] % op.integer("num_groups", 1) != 0)
    return op.error() << "has " << op.integer("num_groups", 1) << " groups of " << shapeOf(value)[1]
                      << " channels; expected a divisor";
  SmallVector<int64_t> shape(shapeOf(value)), grouped{shape[0], op.integer("num_groups", 1)};
  grouped.push_back(shape[1] / grouped[1]);
  grouped.append(shape.begin() + 2, shape.end());
  Value parts = op.math.reshape(value, grouped);
  auto dims = llvm::to_vector(llvm::seq<int64_t>(2, grouped.size()));
  Moments moments = getMoments(op.math, parts, dims);
  Value inverse = getInverseDeviation(op.math, moments.variance, op.number("eps", 1e-5));
  Value whole = op.math.reshape(standardize(op.math, parts, moments.mean, inverse), shape);
  return op.finish(op.convert(scaleAndShift(op, whole, 1), op.element()));
}

/// (1 - momentum) * running + momentum * batch.
Value mix(AtenOp& op, Value running, Value batch) {
  double momentum = op.number("momentum", 0.1);
  RankedTensorType type = tensorType(running);
  Value own = op.convert(op.math.reshape(batch, type.getShape()), type.getElementType());
  return op.math.add(op.math.multiply(running, op.math.splat(type, 1 - momentum)),
                     op.math.multiply(own, op.math.splat(type, momentum)));
}

/// Batch statistics where it trains, running ones elsewhere. `isFunctional`: the next running statistics are results.
template <bool isFunctional>
LogicalResult lowerBatchNorm(AtenOp& op) {
  Value value = widen(op, op.tensor("input")), runningMean = op.tensor("running_mean"),
        runningVariance = op.tensor("running_var");
  SmallVector<int64_t> dims, perFeature(tensorType(value).getRank(), 1);
  for (int64_t dim = 0; dim < tensorType(value).getRank(); ++dim)
    if (dim != 1) dims.push_back(dim);
  perFeature[1] = shapeOf(value)[1];
  bool isTraining = op.flag("training", op.flag("train", false)) || !runningMean || !runningVariance;
  auto running = [&](Value tensor) {
    return op.math.reshape(op.convert(tensor, tensorType(value).getElementType()), perFeature);
  };
  Moments moments =
      isTraining ? getMoments(op.math, value, dims) : Moments{running(runningMean), running(runningVariance), 0};
  Value inverse = getInverseDeviation(op.math, moments.variance, op.number("eps", 1e-5));
  Value scaled = scaleAndShift(op, standardize(op.math, value, moments.mean, inverse), 1);
  (void)op.finish(op.convert(scaled, op.element()));
  Value nextMean = runningMean, nextVariance = runningVariance;
  if (isTraining && runningMean && runningVariance) {
    double unbiased = moments.count / std::max(1.0, moments.count - 1);
    Value variance = op.math.multiply(moments.variance, op.math.splat(tensorType(moments.variance), unbiased));
    nextMean = mix(op, runningMean, moments.mean);
    nextVariance = mix(op, runningVariance, variance);
  }
  if (!isFunctional && isTraining && runningMean && runningVariance) {
    op.overwrite("running_mean", nextMean);
    op.overwrite("running_var", nextVariance);
  }
  if (!isFunctional) return success();
  (void)op.finish(op.convert(op.math.reshape(moments.mean, op.type(1).getShape()), op.element(1)), 1);
  (void)op.finish(op.convert(op.math.reshape(inverse, op.type(2).getShape()), op.element(2)), 2);
  (void)op.finish(nextMean, 3);
  return op.finish(nextVariance, 4);
}

}  // namespace

void mlir::sgd::torch::addNormalizationOps(OpTable& table) {
  for (StringRef name : {"layer_norm.default", "native_layer_norm.default"}) table[name] = {lowerLayerNorm, {"input"}};
  table["rms_norm.default"] = {lowerRmsNorm, {"input"}};
  table["group_norm.default"] = {lowerGroupNorm, {"input"}, 2};
  table["batch_norm.default"] = {lowerBatchNorm<false>, {"input"}, 2};
  table["_native_batch_norm_legit_functional.default"] = {lowerBatchNorm<true>, {"input"}, 2};
}
