// Losses. Means are over all elements that count, of all ranks and parts of the batch.
#include <cmath>
#include <numbers>

#include "frontends/torch/aten_op.h"
#include "passes/graph/functions/losses.h"

using namespace mlir;
using namespace mlir::sgd;
using namespace mlir::sgd::torch;

namespace {

/// at::Reduction.
enum class Reduction : int64_t { None, Mean, Sum };

}  // namespace

LogicalResult mlir::sgd::torch::finishLoss(AtenOp& op, Value losses, Value weights) {
  auto reduction = static_cast<Reduction>(op.integer("reduction", 1));
  if (reduction == Reduction::None) return op.finish(op.convert(losses, op.element()));
  Value reduced = reduction == Reduction::Sum ? writeSum(op.math, losses) : writeMean(op.math, {losses, weights});
  return op.finish(op.convert(reduced, op.element()));
}

namespace {

/// `logs` are logarithms of probabilities with the classes in dimension `dim`.
LogicalResult finishLabelLoss(AtenOp& op, Value logs, Value labels, double smoothing) {
  int64_t dim = tensorType(logs).getRank() == 1 ? 0 : 1;
  if (tensorType(labels).getRank() + 1 != tensorType(logs).getRank())
    return op.error() << "has labels of " << tensorType(labels).getRank()
                      << " dimensions; expected one fewer than the scores have";
  LabelOptions options{dim, smoothing, op.integer("ignore_index", -100), {}};
  if (Value weight = op.tensor("weight")) options.weights = op.convert(weight, tensorType(logs).getElementType());
  Losses losses = writeLabelLosses(op.math, logs, labels, options);
  return finishLoss(op, losses.losses, losses.counts);
}

/// Logits [N, C, ..] or [C].
LogicalResult lowerCrossEntropy(AtenOp& op) {
  Value logits = op.tensor("self"), target = op.tensor("target");
  int64_t dim = tensorType(logits).getRank() == 1 ? 0 : 1;
  double smoothing = op.number("label_smoothing", 0);
  if (tensorType(logits).getElementTypeBitWidth() < 32) logits = op.convert(logits, op.math.getBuilder().getF32Type());
  Value logs = writeSoftmax(op.math, logits, dim, /*isLogarithm=*/true);
  if (isa<IntegerType>(tensorType(target).getElementType())) return finishLabelLoss(op, logs, target, smoothing);
  // Probabilities of classes.
  if (failed(op.requireSameRank(logs, target))) return failure();
  Value probabilities = op.convert(target, tensorType(logs).getElementType());
  if (Value weight = op.tensor("weight"))
    logs = op.math.multiply(
        logs, op.math.broadcast(op.convert(weight, tensorType(logs).getElementType()), dim, shapeOf(logs)));
  Value losses = writeSoftLabelLosses(op.math, logs, probabilities, dim, smoothing);
  if (op.integer("reduction", 1) == static_cast<int64_t>(Reduction::Mean) && tensorType(losses).getRank() == 0)
    return op.finish(op.convert(losses, op.element()));
  return finishLoss(op, losses);
}

/// With a second output, the sum of the weights, which only PyTorch's own derivative reads.
LogicalResult lowerNll(AtenOp& op) {
  Value logs = op.tensor("self");
  return finishLabelLoss(op, logs, op.tensor("target"), 0);
}

/// self and target, repeated to one shape.
std::pair<Value, Value> getPair(AtenOp& op) {
  RankedTensorType type = tensorType(op.tensor("self")).clone(ArrayRef<int64_t>(op.broadcastShape({"self", "target"})));
  return {op.operand("self", type), op.operand("target", type)};
}

LogicalResult lowerMse(AtenOp& op) {
  auto [a, b] = getPair(op);
  Value distance = op.math.subtract(a, b);
  return finishLoss(op, op.math.multiply(distance, distance));
}

LogicalResult lowerL1(AtenOp& op) {
  auto [a, b] = getPair(op);
  return finishLoss(op, op.math.absolute(op.math.subtract(a, b)));
}

/// Quadratic up to `bound`: d^2 / 2 scaled, and linear from there on.
template <bool isHuber>
LogicalResult lowerSmoothL1(AtenOp& op) {
  auto [a, b] = getPair(op);
  double bound = isHuber ? op.number("delta", 1) : op.number("beta", 1);
  Value distance = op.math.absolute(op.math.subtract(a, b));
  RankedTensorType type = tensorType(distance);
  if (bound == 0) return finishLoss(op, distance);
  double inner = isHuber ? 0.5 : 0.5 / bound, slope = isHuber ? bound : 1;
  Value square = op.math.multiply(op.math.multiply(distance, distance), op.math.splat(type, inner));
  Value line = op.math.multiply(op.math.subtract(distance, op.math.splat(type, bound / 2)), op.math.splat(type, slope));
  return finishLoss(op, op.math.select(op.math.isLess(distance, op.math.splat(type, bound)), square, line));
}

Value weigh(AtenOp& op, Value losses) {
  return op.tensor("weight") ? op.math.multiply(losses, op.operand("weight", tensorType(losses))) : losses;
}

/// (1 - y) x + (1 + (weight of y = 1 - 1) y) log(1 + e^-x).
LogicalResult lowerBinaryCrossEntropyWithLogits(AtenOp& op) {
  auto [x, y] = getPair(op);
  RankedTensorType type = tensorType(x);
  Value positiveWeights = op.tensor("pos_weight") ? op.operand("pos_weight", type) : Value();
  return finishLoss(op, weigh(op, writeBinaryLosses(op.math, x, y, positiveWeights)));
}

/// log x, at least -100.
Value writeBoundedLog(TensorMath& math, Value x) {
  RankedTensorType type = tensorType(x);
  Value isZero = math.isEqual(x, math.splat(type, 0.0)), least = math.splat(type, -100.0);
  Value logarithm = math.create<math::LogOp>(math.select(isZero, math.splat(type, 1.0), x));
  return math.select(isZero, least, writeClamp(math, logarithm, least, {}));
}

LogicalResult lowerBinaryCrossEntropy(AtenOp& op) {
  auto [x, y] = getPair(op);
  TensorMath& math = op.math;
  Value one = math.splat(tensorType(x), 1.0);
  Value ofOnes = math.multiply(y, writeBoundedLog(math, x));
  Value ofZeros = math.multiply(math.subtract(one, y), writeBoundedLog(math, math.subtract(one, x)));
  return finishLoss(op, weigh(op, math.minus(math.add(ofOnes, ofZeros))));
}

/// target (log target - self), where self is a logarithm, and the target too if `log_target`.
LogicalResult lowerKlDivergence(AtenOp& op) {
  auto [x, y] = getPair(op);
  TensorMath& math = op.math;
  if (op.flag("log_target", false)) return finishLoss(op, math.multiply(math.exponential(y), math.subtract(y, x)));
  RankedTensorType type = tensorType(x);
  Value isZero = math.isEqual(y, math.splat(type, 0.0)), safe = math.select(isZero, math.splat(type, 1.0), y);
  Value entropy = math.multiply(y, math.create<math::LogOp>(safe));
  return finishLoss(op, math.subtract(entropy, math.multiply(y, x)));
}

/// The negative logarithm of a Poisson distribution of rate `input`, or e^input; with Stirling's approximation if
/// `full`.
LogicalResult lowerPoisson(AtenOp& op) {
  TensorMath& math = op.math;
  auto type = RankedTensorType::get(op.broadcastShape({"input", "target"}), op.element());
  Value x = op.operand("input", type), y = op.operand("target", type), losses;
  if (op.flag("log_input", true)) {
    losses = math.subtract(math.exponential(x), math.multiply(y, x));
  } else {
    Value logarithm = math.create<math::LogOp>(math.add(x, math.splat(type, op.number("eps", 1e-8))));
    losses = math.subtract(x, math.multiply(y, logarithm));
  }
  if (!op.flag("full", false)) return finishLoss(op, losses);
  Value one = math.splat(type, 1.0), isLarge = math.isLess(one, y), safe = math.select(isLarge, y, one);
  Value logarithm = math.create<math::LogOp>(safe), half = math.splat(type, 0.5);
  Value root = math.multiply(half, math.add(logarithm, math.splat(type, std::log(2 * std::numbers::pi))));
  Value term = math.add(math.subtract(math.multiply(safe, logarithm), safe), root);
  return finishLoss(op, math.add(losses, math.select(isLarge, term, math.splat(type, 0.0))));
}

}  // namespace

void mlir::sgd::torch::addLossOps(OpTable& table) {
  enter(table, {"cross_entropy_loss.default"}, {lowerCrossEntropy, {"self", "target"}, 1});
  enter(table,
        {"nll_loss.default", "nll_loss_nd.default", "nll_loss2d.default", "nll_loss_forward.default",
         "nll_loss2d_forward.default"},
        {lowerNll, {"self", "target"}, 1});
  enter(table, {"mse_loss.default"}, {lowerMse, {"self", "target"}});
  enter(table, {"l1_loss.default"}, {lowerL1, {"self", "target"}});
  enter(table, {"smooth_l1_loss.default"}, {lowerSmoothL1<false>, {"self", "target"}});
  enter(table, {"huber_loss.default"}, {lowerSmoothL1<true>, {"self", "target"}});
  enter(table, {"binary_cross_entropy_with_logits.default"}, {lowerBinaryCrossEntropyWithLogits, {"self", "target"}});
  enter(table, {"binary_cross_entropy.default"}, {lowerBinaryCrossEntropy, {"self", "target"}});
  enter(table, {"kl_div.default"}, {lowerKlDivergence, {"self", "target"}});
  enter(table, {"poisson_nll_loss.default"}, {lowerPoisson, {"input", "target"}});
}
