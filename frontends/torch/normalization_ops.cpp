// Normalizations. Statistics are those of the whole batch, of all ranks.
#include "dialects/sgd/input_attrs.h"
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

/// Says of sums over the batch what they are for.
void markStatistics(Value mean) {
  SmallVector<Value> values{mean};
  while (!values.empty()) {
    Operation* op = values.pop_back_val().getDefiningOp();
    if (isa<ReduceOp>(op))
      op->setAttr(kBatchStatisticsAttr, UnitAttr::get(op->getContext()));
    else
      values.push_back(op->getOperand(0));
  }
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

/// The second and third output: means and inverse deviations.
LogicalResult finishMoments(AtenOp& op, Value mean, Value inverse) {
  (void)op.finish(op.convert(op.math.reshape(mean, op.type(1).getShape()), op.element(1)), 1);
  return op.finish(op.convert(op.math.reshape(inverse, op.type(2).getShape()), op.element(2)), 2);
}

LogicalResult lowerLayerNorm(AtenOp& op) {
  Value value = widen(op, op.tensor("input"));
  SmallVector<int64_t> dims = getLastDims(op, value);
  Moments moments = getMoments(op.math, value, dims);
  Value inverse = getInverseDeviation(op.math, moments.variance, op.number("eps", 1e-5));
  Value scaled = scaleAndShift(op, standardize(op.math, value, moments.mean, inverse), dims);
  (void)op.finish(op.convert(scaled, op.element()));
  return op.getNumOutputs() < 3 ? success() : finishMoments(op, moments.mean, inverse);
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
  (void)op.finish(op.convert(scaleAndShift(op, scaled, dims), op.element()));
  if (op.getNumOutputs() < 2) return success();
  return op.finish(
      op.convert(op.math.reshape(getInverseDeviation(op.math, mean, eps), op.type(1).getShape()), op.element(1)), 1);
}

/// (1 - momentum) * running + momentum * batch.
Value mix(AtenOp& op, Value running, Value batch) {
  double momentum = op.number("momentum", 0.1);
  RankedTensorType type = tensorType(running);
  Value own = op.convert(op.math.reshape(batch, type.getShape()), type.getElementType());
  return op.math.add(op.math.multiply(running, op.math.splat(type, 1 - momentum)),
                     op.math.multiply(own, op.math.splat(type, momentum)));
}

/// With further outputs: means and inverse deviations.
LogicalResult lowerGroupNorm(AtenOp& op) {
  Value value = widen(op, op.tensor("input"));
  int64_t groups = op.integer(op.has("group") ? "group" : "num_groups", 1);
  if (groups < 1 || shapeOf(value)[1] % groups != 0)
    return op.error() << "has " << groups << " groups of " << shapeOf(value)[1] << " channels; expected a divisor";
  SmallVector<int64_t> shape(shapeOf(value)), grouped{shape[0], groups};
  grouped.push_back(shape[1] / grouped[1]);
  grouped.append(shape.begin() + 2, shape.end());
  Value parts = op.math.reshape(value, grouped);
  auto dims = llvm::to_vector(llvm::seq<int64_t>(2, grouped.size()));
  Moments moments = getMoments(op.math, parts, dims);
  Value inverse = getInverseDeviation(op.math, moments.variance, op.number("eps", 1e-5));
  Value whole = op.math.reshape(standardize(op.math, parts, moments.mean, inverse), shape);
  (void)op.finish(op.convert(scaleAndShift(op, whole, 1), op.element()));
  return op.getNumOutputs() < 3 ? success() : finishMoments(op, moments.mean, inverse);
}

/// Per picture and channel. Running statistics become the average of the pictures' own.
LogicalResult lowerInstanceNorm(AtenOp& op) {
  Value value = widen(op, op.tensor("input")), runningMean = op.tensor("running_mean"),
        runningVariance = op.tensor("running_var");
  int64_t rank = tensorType(value).getRank();
  bool usesInput = op.flag("use_input_stats", true);
  if (!usesInput && (!runningMean || !runningVariance))
    return op.error() << "has no statistics; expected those of the input or running ones";
  auto dims = llvm::to_vector(llvm::seq<int64_t>(2, rank));
  SmallVector<int64_t> perChannel(rank, 1);
  perChannel[1] = shapeOf(value)[1];
  auto running = [&](Value tensor) {
    return op.math.reshape(op.convert(tensor, tensorType(value).getElementType()), perChannel);
  };
  Moments moments =
      usesInput ? getMoments(op.math, value, dims) : Moments{running(runningMean), running(runningVariance), 1};
  Value inverse = getInverseDeviation(op.math, moments.variance, op.number("eps", 1e-5));
  if (usesInput && runningMean && runningVariance) {
    auto average = [&](Value of, double factor) {
      Value sum = op.math.reduce(of, ReduceKind::Add, 0);
      return op.math.multiply(sum, op.math.splat(tensorType(sum), factor / static_cast<double>(shapeOf(of)[0])));
    };
    double unbiased = moments.count / std::max(1.0, moments.count - 1);
    op.overwrite("running_mean", mix(op, runningMean, average(moments.mean, 1)));
    op.overwrite("running_var", mix(op, runningVariance, average(moments.variance, unbiased)));
  }
  Value scaled = scaleAndShift(op, standardize(op.math, value, moments.mean, inverse), 1);
  return op.finish(op.convert(scaled, op.element()));
}

/// Where the next running statistics of a batch norm go.
enum class Running { Overwritten, Results, Unchanged };

/// Batch statistics where it trains, running ones elsewhere.
template <Running kind>
LogicalResult lowerBatchNorm(AtenOp& op) {
  Value value = widen(op, op.tensor("input")), runningMean = op.tensor("running_mean"),
        runningVariance = op.tensor("running_var");
  SmallVector<int64_t> dims, perFeature(tensorType(value).getRank(), 1);
  for (int64_t dim = 0; dim < tensorType(value).getRank(); ++dim)
    if (dim != 1) dims.push_back(dim);
  perFeature[1] = shapeOf(value)[1];
  bool hasRunning = runningMean && runningVariance;
  bool asks = op.flag("training", op.flag("train", op.isNamed("_batch_norm_with_update")));
  bool isTraining = (kind != Running::Unchanged && asks) || !hasRunning;
  auto running = [&](Value tensor) {
    return op.math.reshape(op.convert(tensor, tensorType(value).getElementType()), perFeature);
  };
  Moments moments =
      isTraining ? getMoments(op.math, value, dims) : Moments{running(runningMean), running(runningVariance), 0};
  if (isTraining)
    for (Value moment : {moments.mean, moments.variance}) markStatistics(moment);
  Value mean = moments.mean, variance = moments.variance;
  if (isTraining && hasRunning) {
    mean = op.chooseByMode(mean, running(runningMean));
    variance = op.chooseByMode(variance, running(runningVariance));
  }
  Value inverse = getInverseDeviation(op.math, variance, op.number("eps", 1e-5));
  Value scaled = scaleAndShift(op, standardize(op.math, value, mean, inverse), 1);
  (void)op.finish(op.convert(scaled, op.element()));
  Value nextMean = runningMean, nextVariance = runningVariance;
  if (isTraining && hasRunning) {
    double unbiased = moments.count / std::max(1.0, moments.count - 1);
    Value corrected = op.math.multiply(moments.variance, op.math.splat(tensorType(moments.variance), unbiased));
    corrected.getDefiningOp()->setAttr(kBatchStatisticsAttr, op.math.getBuilder().getF64FloatAttr(moments.count));
    nextMean = mix(op, runningMean, moments.mean);
    nextVariance = mix(op, runningVariance, corrected);
    if (kind == Running::Overwritten) {
      op.overwrite("running_mean", nextMean);
      op.overwrite("running_var", nextVariance);
    }
  }
  if (op.getNumOutputs() >= 3) {
    // Without training the statistics are empty.
    if (op.type(1).getNumElements() == tensorType(moments.mean).getNumElements())
      (void)finishMoments(op, moments.mean, inverse);
    else
      for (unsigned output : {1, 2}) (void)op.finish(op.constant(op.type(output), 0), output);
  }
  // Memory that only PyTorch's own derivative reads.
  if (op.isNamed("_batch_norm_with_update") && op.type(3).getNumElements() == 0)
    (void)op.finish(op.constant(op.type(3), 0), 3);
  if (kind != Running::Results) return success();
  (void)op.finish(nextMean, 3);
  return op.finish(nextVariance, 4);
}

}  // namespace

void mlir::sgd::torch::addNormalizationOps(OpTable& table) {
  enter(table, {"layer_norm.default", "native_layer_norm.default"}, {lowerLayerNorm, {"input"}});
  enter(table, {"rms_norm.default", "_fused_rms_norm.default"}, {lowerRmsNorm, {"input"}});
  enter(table, {"group_norm.default", "native_group_norm.default"}, {lowerGroupNorm, {"input"}, 2});
  enter(table, {"instance_norm.default"}, {lowerInstanceNorm, {"input"}, 2});
  enter(table,
        {"batch_norm.default", "native_batch_norm.default", "_native_batch_norm_legit.default",
         "_native_batch_norm_legit.no_stats", "_batch_norm_with_update.default", "_batch_norm_no_update.default"},
        {lowerBatchNorm<Running::Overwritten>, {"input"}, 2});
  enter(table, {"_native_batch_norm_legit_functional.default"}, {lowerBatchNorm<Running::Results>, {"input"}, 2});
  enter(table, {"_native_batch_norm_legit_no_training.default"}, {lowerBatchNorm<Running::Unchanged>, {"input"}, 2});
}
