// Losses. Means are over all elements that count, of all ranks and parts of the batch.
#include "frontends/torch/aten_op.h"

using namespace mlir;
using namespace mlir::sgd;
using namespace mlir::sgd::torch;

namespace {

/// at::Reduction.
enum class Reduction : int64_t { None, Mean, Sum };

SmallVector<int64_t> getAllDims(Value value) {
  return llvm::to_vector(llvm::seq<int64_t>(0, tensorType(value).getRank()));
}

Value sumUp(TensorMath& math, Value value) {
  return tensorType(value).getRank() ? math.reduce(value, ReduceKind::Add, getAllDims(value)) : value;
}

/// `losses` reduced as the op says; a mean divides by the sum of `weights`, or by their number where null.
LogicalResult finish(AtenOp& op, Value losses, Value weights = {}) {
  auto reduction = static_cast<Reduction>(op.integer("reduction", 1));
  if (reduction == Reduction::None) return op.finish(op.convert(losses, op.element()));
  Value sum = sumUp(op.math, losses);
  if (reduction == Reduction::Sum) return op.finish(op.convert(sum, op.element()));
  Value count = weights ? sumUp(op.math, weights)
                        : op.math.splat(tensorType(sum), static_cast<double>(tensorType(losses).getNumElements()));
  return op.finish(op.convert(op.math.divide(sum, count), op.element()));
}

/// Logarithms of probabilities with the classes in dimension `dim`, and labels, of the other dimensions.
class LabelLoss {
 public:
  LabelLoss(AtenOp& op, Value logs, Value labels, int64_t dim)
      : op(op), math(op.math), logs(logs), labels(labels), dim(dim) {}

  LogicalResult lower(double smoothing) {
    ArrayRef<int64_t> shape = shapeOf(logs);
    for (int64_t other = 0; other < static_cast<int64_t>(shape.size()); ++other)
      if (other != dim) others.push_back(other);
    if (tensorType(labels).getRank() + 1 != tensorType(logs).getRank())
      return op.error() << "has labels of " << tensorType(labels).getRank()
                        << " dimensions; expected one fewer than the scores have";
    RankedTensorType numbers = tensorType(logs).clone(tensorType(labels).getElementType());
    Value everywhere = math.broadcast(labels, others, shape);
    Value isClass = math.isEqual(
        everywhere,
        op.convert(math.create<IotaOp>(numbers.clone(math.getBuilder().getI32Type()), dim), numbers.getElementType()));
    Value zero = math.splat(tensorType(logs), 0.0);
    Value counts = getCounts(isClass, zero);
    Value picked = math.minus(math.reduce(math.select(isClass, weigh(logs), zero), ReduceKind::Add, dim));
    Value losses = math.select(isCounted(), picked, math.splat(tensorType(picked), 0.0));
    if (smoothing > 0) {
      double classes = static_cast<double>(shape[dim]);
      Value all = math.minus(math.reduce(weigh(logs), ReduceKind::Add, dim));
      all = math.select(isCounted(), all, math.splat(tensorType(all), 0.0));
      losses = math.add(math.multiply(losses, math.splat(tensorType(losses), 1 - smoothing)),
                        math.multiply(all, math.splat(tensorType(all), smoothing / classes)));
    }
    return finish(op, losses, counts);
  }

 private:
  Value isCounted() {
    int64_t ignored = op.integer("ignore_index", -100);
    Value same = math.isEqual(labels, op.constant(tensorType(labels), static_cast<double>(ignored)));
    return math.negate(same);
  }

  /// Each class times its weight, if there are weights.
  Value weigh(Value values) {
    Value weight = op.tensor("weight");
    return weight ? math.multiply(values, math.broadcast(op.convert(weight, tensorType(values).getElementType()), dim,
                                                         shapeOf(values)))
                  : values;
  }

  /// The weight of each label; 0 where it is ignored.
  Value getCounts(Value isClass, Value zero) {
    Value ones = math.splat(tensorType(zero), 1.0);
    Value counts = op.tensor("weight") ? math.reduce(math.select(isClass, weigh(ones), zero), ReduceKind::Add, dim)
                                       : math.splat(tensorType(labels).clone(tensorType(logs).getElementType()), 1.0);
    return math.select(isCounted(), counts, math.splat(tensorType(counts), 0.0));
  }

  AtenOp& op;
  TensorMath& math;
  Value logs, labels;
  int64_t dim;
  SmallVector<int64_t> others;
};

/// Logits [N, C, ..] or [C].
LogicalResult lowerCrossEntropy(AtenOp& op) {
  Value logits = op.tensor("self"), target = op.tensor("target");
  int64_t dim = tensorType(logits).getRank() == 1 ? 0 : 1;
  double smoothing = op.number("label_smoothing", 0);
  if (tensorType(logits).getElementTypeBitWidth() < 32) logits = op.convert(logits, op.math.getBuilder().getF32Type());
  Value logs = writeSoftmax(op.math, logits, dim, /*isLogarithm=*/true);
  if (isa<IntegerType>(tensorType(target).getElementType())) return LabelLoss(op, logs, target, dim).lower(smoothing);
  // Probabilities of classes.
  if (op.tensor("weight"))
    return op.error()
           << "has weights of classes and targets that are probabilities, which is not supported; weigh the targets";
  if (failed(op.requireSameRank(logs, target))) return failure();
  Value probabilities = op.convert(target, tensorType(logs).getElementType());
  if (smoothing > 0) {
    RankedTensorType type = tensorType(logs);
    probabilities = op.math.add(op.math.multiply(probabilities, op.math.splat(type, 1 - smoothing)),
                                op.math.splat(type, smoothing / static_cast<double>(type.getDimSize(dim))));
  }
  Value losses = op.math.minus(op.math.reduce(op.math.multiply(logs, probabilities), ReduceKind::Add, dim));
  return finish(op, losses);
}

LogicalResult lowerNll(AtenOp& op) {
  Value logs = op.tensor("self");
  return LabelLoss(op, logs, op.tensor("target"), tensorType(logs).getRank() == 1 ? 0 : 1).lower(0);
}

/// self and target, repeated to one shape.
std::pair<Value, Value> getPair(AtenOp& op) {
  Value a = op.tensor("self"), b = op.tensor("target");
  ArrayRef<int64_t> shape = tensorType(a).getRank() >= tensorType(b).getRank() ? shapeOf(a) : shapeOf(b);
  return {op.expand(a, shape), op.expand(op.convert(b, tensorType(a).getElementType()), shape)};
}

LogicalResult lowerMse(AtenOp& op) {
  auto [a, b] = getPair(op);
  Value distance = op.math.subtract(a, b);
  return finish(op, op.math.multiply(distance, distance));
}

LogicalResult lowerL1(AtenOp& op) {
  auto [a, b] = getPair(op);
  return finish(op, op.math.absolute(op.math.subtract(a, b)));
}

/// Quadratic up to `bound`: d^2 / 2 scaled, and linear from there on.
template <bool isHuber>
LogicalResult lowerSmoothL1(AtenOp& op) {
  auto [a, b] = getPair(op);
  double bound = isHuber ? op.number("delta", 1) : op.number("beta", 1);
  Value distance = op.math.absolute(op.math.subtract(a, b));
  RankedTensorType type = tensorType(distance);
  if (bound == 0) return finish(op, distance);
  double inner = isHuber ? 0.5 : 0.5 / bound, slope = isHuber ? bound : 1;
  Value square = op.math.multiply(op.math.multiply(distance, distance), op.math.splat(type, inner));
  Value line = op.math.multiply(op.math.subtract(distance, op.math.splat(type, bound / 2)), op.math.splat(type, slope));
  return finish(op, op.math.select(op.math.isLess(distance, op.math.splat(type, bound)), square, line));
}

/// max(x, 0) - x y + log(1 + e^-|x|).
LogicalResult lowerBinaryCrossEntropyWithLogits(AtenOp& op) {
  auto [x, y] = getPair(op);
  RankedTensorType type = tensorType(x);
  if (op.tensor("pos_weight")) return op.error() << "has pos_weight, which is not supported; weigh the losses";
  Value zero = op.math.splat(type, 0.0), positive = op.math.select(op.math.isLess(zero, x), x, zero);
  Value tail = op.math.create<math::Log1pOp>(op.math.exponential(op.math.minus(op.math.absolute(x))));
  Value losses = op.math.add(op.math.subtract(positive, op.math.multiply(x, y)), tail);
  if (Value weight = op.tensor("weight"))
    losses = op.math.multiply(losses, op.expand(op.convert(weight, type.getElementType()), type.getShape()));
  return finish(op, losses);
}

}  // namespace

void mlir::sgd::torch::addLossOps(OpTable& table) {
  table["cross_entropy_loss.default"] = {lowerCrossEntropy, {"self", "target"}, 1};
  for (StringRef name : {"nll_loss.default", "nll_loss_nd.default", "nll_loss2d.default"})
    table[name] = {lowerNll, {"self", "target"}, 1};
  table["mse_loss.default"] = {lowerMse, {"self", "target"}};
  table["l1_loss.default"] = {lowerL1, {"self", "target"}};
  table["smooth_l1_loss.default"] = {lowerSmoothL1<false>, {"self", "target"}};
  table["huber_loss.default"] = {lowerSmoothL1<true>, {"self", "target"}};
  table["binary_cross_entropy_with_logits.default"] = {lowerBinaryCrossEntropyWithLogits, {"self", "target"}};
}
