// Activations. Gradients at kinks are PyTorch's: 0 for relu at 0.
#include <numbers>

#include "frontends/torch/aten_op.h"
#include "passes/graph/functions/special_functions.h"

using namespace mlir;
using namespace mlir::sgd;
using namespace mlir::sgd::torch;

Value mlir::sgd::torch::writeSigmoid(TensorMath& math, Value x) {
  Value one = math.splat(tensorType(x), 1.0);
  return math.divide(one, math.add(one, math.exponential(math.minus(x))));
}

Value mlir::sgd::torch::writeRelu(TensorMath& math, Value x) {
  Value zero = math.splat(tensorType(x), 0.0);
  return math.select(math.isAtLeast(zero, x), zero, x);
}

Value mlir::sgd::torch::writeClamp(TensorMath& math, Value x, Value least, Value most) {
  if (least) x = math.select(math.isAtLeast(least, x), least, x);
  if (most) x = math.select(math.isAtLeast(x, most), most, x);
  return x;
}

namespace {

LogicalResult lowerRelu(AtenOp& op) { return op.finish(writeRelu(op.math, op.self())); }
LogicalResult lowerRelu6(AtenOp& op) { return op.finish(writeClamp(op.math, op.self(), op.splat(0), op.splat(6))); }

LogicalResult lowerHardtanh(AtenOp& op) {
  Value low = op.splat(op.number("min_val", -1)), high = op.splat(op.number("max_val", 1));
  return op.finish(writeClamp(op.math, op.self(), low, high));
}

LogicalResult lowerLeakyRelu(AtenOp& op) {
  Value x = op.self(), scaled = op.math.multiply(x, op.splat(op.number("negative_slope", 0.01)));
  return op.finish(op.math.select(op.math.isLess(op.splat(0), x), x, scaled));
}

LogicalResult lowerElu(AtenOp& op) {
  Value x = op.self(), zero = op.splat(0), isPositive = op.math.isLess(zero, x);
  Value below = op.math.create<math::ExpM1Op>(
      op.math.select(isPositive, zero, op.math.multiply(x, op.splat(op.number("input_scale", 1)))));
  below = op.math.multiply(below, op.splat(op.number("alpha", 1)));
  return op.finish(op.math.multiply(op.math.select(isPositive, x, below), op.splat(op.number("scale", 1))));
}

LogicalResult lowerSigmoid(AtenOp& op) { return op.finish(writeSigmoid(op.math, op.self())); }
LogicalResult lowerSilu(AtenOp& op) {
  Value x = op.self();
  return op.finish(op.math.multiply(x, writeSigmoid(op.math, x)));
}

/// clamp(x / 6 + 1/2, 0, 1).
Value hardSigmoid(AtenOp& op, Value x) {
  return writeClamp(op.math, op.math.add(op.math.multiply(x, op.splat(1.0 / 6)), op.splat(0.5)), op.splat(0),
                    op.splat(1));
}
LogicalResult lowerHardSigmoid(AtenOp& op) { return op.finish(hardSigmoid(op, op.self())); }
LogicalResult lowerHardSwish(AtenOp& op) {
  Value x = op.self();
  return op.finish(op.math.multiply(x, hardSigmoid(op, x)));
}

/// log(1 + e^(beta x)) / beta, x itself where that is as good.
LogicalResult lowerSoftplus(AtenOp& op) {
  double beta = op.number("beta", 1);
  Value x = op.self(), scaled = op.math.multiply(x, op.splat(beta)), bound = op.splat(op.number("threshold", 20));
  Value curve = op.math.divide(writeSoftplus(op.math, scaled), op.splat(beta));
  return op.finish(op.math.select(op.math.isLess(bound, scaled), x, curve));
}
LogicalResult lowerMish(AtenOp& op) {
  Value x = op.self();
  return op.finish(op.math.multiply(x, op.math.create<math::TanhOp>(writeSoftplus(op.math, x))));
}

/// With a second output, which only PyTorch's own derivative reads.
LogicalResult lowerLogSigmoid(AtenOp& op) {
  if (op.getNumOutputs() > 1) (void)op.finish(op.constant(op.type(1), 0), 1);
  return op.finish(op.math.minus(writeSoftplus(op.math, op.math.minus(op.self()))));
}

/// x times the standard normal distribution function, or its approximation by tanh.
LogicalResult lowerGelu(AtenOp& op) {
  Value x = op.self(), half = op.math.multiply(x, op.splat(0.5));
  if (op.text("approximate", "none") == "tanh") {
    Value cube = op.math.multiply(op.math.multiply(x, x), x);
    Value inner = op.math.add(x, op.math.multiply(cube, op.splat(0.044715)));
    Value tanh =
        op.math.create<math::TanhOp>(op.math.multiply(inner, op.splat(std::numbers::sqrt2 * std::numbers::inv_sqrtpi)));
    return op.finish(op.math.multiply(half, op.math.add(tanh, op.splat(1))));
  }
  Value erf = op.math.create<math::ErfOp>(op.math.multiply(x, op.splat(1 / std::numbers::sqrt2)));
  return op.finish(op.math.multiply(half, op.math.add(erf, op.splat(1))));
}

/// x where it is positive, else alpha (e^(x / alpha) - 1).
LogicalResult lowerCelu(AtenOp& op) {
  Value x = op.self(), zero = op.splat(0), alpha = op.splat(op.number("alpha", 1));
  Value isPositive = op.math.isLess(zero, x);
  Value below = op.math.create<math::ExpM1Op>(op.math.divide(op.math.select(isPositive, zero, x), alpha));
  return op.finish(op.math.select(isPositive, x, op.math.multiply(alpha, below)));
}

/// J. Klambauer et al., "Self-normalizing neural networks", 2017.
LogicalResult lowerSelu(AtenOp& op) {
  constexpr double kAlpha = 1.6732632423543772848170429916717, kScale = 1.0507009873554804934193349852946;
  Value x = op.self(), zero = op.splat(0), isPositive = op.math.isLess(zero, x);
  Value below = op.math.create<math::ExpM1Op>(op.math.select(isPositive, zero, x));
  below = op.math.multiply(below, op.splat(kAlpha * kScale));
  return op.finish(op.math.select(isPositive, op.math.multiply(x, op.splat(kScale)), below));
}

/// 0 within `lambd` of 0. Soft: the rest comes as much closer to 0.
template <bool isSoft>
LogicalResult lowerShrink(AtenOp& op) {
  double bound = op.number("lambd", 0.5);
  Value x = op.self(), high = op.splat(bound), low = op.splat(-bound), zero = op.splat(0);
  Value isAbove = op.math.isLess(high, x), isBelow = op.math.isLess(x, low);
  Value above = isSoft ? op.math.subtract(x, high) : x, below = isSoft ? op.math.add(x, high) : x;
  Value rest = op.math.select(op.math.create<arith::CmpFOp>(arith::CmpFPredicate::UNO, x, x), x, zero);
  return op.finish(op.math.select(isAbove, above, op.math.select(isBelow, below, rest)));
}

LogicalResult lowerThreshold(AtenOp& op) {
  Value x = op.self(), bound = op.operand("threshold", op.type()), value = op.operand("value", op.type());
  Value isBelow = isa<FloatType>(op.element()) ? op.math.create<arith::CmpFOp>(arith::CmpFPredicate::OLE, x, bound)
                                               : op.math.isAtLeast(bound, x);
  return op.finish(op.math.select(isBelow, value, x));
}

/// One slope, or one per channel.
LogicalResult lowerPrelu(AtenOp& op) {
  Value x = op.self(), weight = op.convert(op.tensor("weight"), op.element());
  int64_t channel = std::min<int64_t>(1, op.type().getRank() - 1);
  bool isPerChannel = tensorType(weight).getRank() == 1 && op.type().getRank() > 1 && shapeOf(weight)[0] > 1;
  weight = isPerChannel                               ? op.math.broadcast(weight, channel, op.type().getShape())
           : tensorType(weight).getNumElements() == 1 ? op.expand(op.math.reshape(weight, {}), op.type().getShape())
                                                      : op.expand(weight, op.type().getShape());
  return op.finish(op.math.select(op.math.isLess(op.splat(0), x), x, op.math.multiply(weight, x)));
}

/// Not in training: the middle slope.
LogicalResult lowerRrelu(AtenOp& op) {
  if (op.flag("training", false))
    return op.error() << "draws slopes in training, which is not supported; use leaky_relu, or export in eval mode";
  Value x = op.self();
  Value slope = op.splat((op.number("lower", 1.0 / 8) + op.number("upper", 1.0 / 3)) / 2);
  return op.finish(op.math.select(op.math.isLess(op.splat(0), x), x, op.math.multiply(slope, x)));
}

/// The first half times the sigmoid of the second one.
LogicalResult lowerGlu(AtenOp& op) {
  Value x = op.convert(op.tensor("self"), op.element());
  int64_t dim = wrapDim(op.integer("dim", -1), tensorType(x).getRank()), half = shapeOf(x)[dim] / 2;
  Value gate = takeSlice(op.math, x, dim, half, 2 * half);
  return op.finish(op.math.multiply(takeSlice(op.math, x, dim, 0, half), writeSigmoid(op.math, gate)));
}

/// log(x / (1 - x)), of x clamped to [eps, 1 - eps].
LogicalResult lowerLogit(AtenOp& op) {
  Value x = op.self();
  if (op.has("eps")) {
    double eps = op.number("eps", 0);
    // The lower bound comes first where it is above the upper one.
    Value low = op.splat(eps), isLow = op.math.isAtLeast(low, x);
    x = op.math.select(isLow, low, writeClamp(op.math, x, {}, op.splat(1 - eps)));
  }
  return op.finish(op.math.create<math::LogOp>(op.math.divide(x, op.math.subtract(op.splat(1), x))));
}

}  // namespace

void mlir::sgd::torch::addActivationOps(OpTable& table) {
  enter(table, {"relu.default"}, lowerRelu);
  enter(table, {"relu6.default"}, lowerRelu6);
  enter(table, {"leaky_relu.default"}, lowerLeakyRelu);
  enter(table, {"elu.default"}, lowerElu);
  enter(table, {"celu.default"}, lowerCelu);
  enter(table, {"selu.default"}, lowerSelu);
  enter(table, {"gelu.default"}, lowerGelu);
  enter(table, {"hardtanh.default"}, lowerHardtanh);
  enter(table, {"hardsigmoid.default"}, lowerHardSigmoid);
  enter(table, {"hardswish.default"}, lowerHardSwish);
  enter(table, {"hardshrink.default"}, lowerShrink<false>);
  enter(table, {"softshrink.default"}, lowerShrink<true>);
  enter(table, {"softplus.default"}, lowerSoftplus);
  enter(table, {"mish.default"}, lowerMish);
  enter(table, {"sigmoid.default", "special_expit.default"}, lowerSigmoid);
  enter(table, {"silu.default"}, lowerSilu);
  enter(table, {"log_sigmoid.default", "log_sigmoid_forward.default"}, lowerLogSigmoid);
  enter(table, {"threshold.default"}, lowerThreshold);
  enter(table, {"prelu.default", "_prelu_kernel.default"}, {lowerPrelu, {"self", "weight"}});
  enter(table, {"rrelu.default"}, lowerRrelu);
  enter(table, {"glu.default"}, {lowerGlu, {"self"}, 1});
  enter(table, {"logit.default", "special_logit.default"}, lowerLogit);
}
