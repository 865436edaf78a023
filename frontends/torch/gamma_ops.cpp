// Gamma functions: logarithms, derivatives and integrals.
#include <cmath>
#include <numbers>

#include "frontends/torch/aten_op.h"
#include "passes/graph/functions/special_functions.h"

using namespace mlir;
using namespace mlir::sgd;
using namespace mlir::sgd::torch;

namespace {

constexpr double kEnd = std::numeric_limits<double>::infinity(), kUndefined = std::numeric_limits<double>::quiet_NaN();

LogicalResult lowerLogGamma(AtenOp& op) { return op.finish(writeLogGamma(op.math, op.self())); }

/// At 0 the pole has the sign of -x, as in PyTorch.
Value writeTorchDigamma(TensorMath& math, Value x) {
  RankedTensorType type = tensorType(x);
  Value pole = math.create<math::CopySignOp>(math.splat(type, kEnd), math.minus(x));
  return math.select(math.isEqual(x, math.splat(type, 0.0)), pole, writeDigamma(math, x));
}

LogicalResult lowerDigamma(AtenOp& op) { return op.finish(writeTorchDigamma(op.math, op.self())); }

/// The derivative of digamma; below 1/2 by reflection: pi^2 / sin^2(pi x) - trigamma(1 - x).
Value writeTrigamma(TensorMath& math, Value x) {
  RankedTensorType type = tensorType(x);
  Value one = math.splat(type, 1.0), isReflected = math.isLess(x, math.splat(type, 0.5));
  Value own = writePolygamma(math, one, math.select(isReflected, math.subtract(one, x), x));
  Value distance = math.subtract(x, math.create<math::RoundEvenOp>(x));
  distance = math.select(isReflected, distance, math.splat(type, 0.25));
  Value sine = math.create<math::SinOp>(math.multiply(distance, math.splat(type, std::numbers::pi)));
  Value ratio = math.divide(math.splat(type, std::numbers::pi), sine);
  return math.select(isReflected, math.subtract(math.multiply(ratio, ratio), own), own);
}

/// Infinite at the poles, 0, -1, ... Of other numbers below 0 and whole powers, the terms of all integers are d^-x +
/// zeta(x, 1 + d) + (-1)^x zeta(x, 1 - d), with d the distance from an integer, and those that are too many are
/// (-1)^x zeta(x, 1 - q).
Value writeTorchZeta(TensorMath& math, Value x, Value q) {
  RankedTensorType type = tensorType(x);
  Value one = math.splat(type, 1.0), zero = math.splat(type, 0.0);
  auto isWhole = [&](Value value) { return math.isEqual(value, math.create<math::FloorOp>(value)); };
  Value isPole = math.both(math.isAtLeast(zero, q), isWhole(q)),
        isBelow = math.both(math.isLess(q, zero), math.negate(isPole));
  Value own = writeZeta(math, x, math.select(isBelow, math.subtract(one, q), q));
  Value d = math.select(isBelow, math.subtract(q, math.create<math::RoundEvenOp>(q)), math.splat(type, 0.5));
  Value sign = math.select(isWhole(math.multiply(x, math.splat(type, 0.5))), one, math.splat(type, -1.0));
  Value before = math.subtract(writeZeta(math, x, math.subtract(one, d)), own);
  Value all = math.add(math.create<math::PowFOp>(d, math.minus(x)), writeZeta(math, x, math.add(one, d)));
  Value below = math.select(isWhole(x), math.add(all, math.multiply(sign, before)), math.splat(type, kUndefined));
  Value result = math.select(isBelow, below, own);
  return math.select(math.both(isPole, math.isLess(one, x)), math.splat(type, kEnd), result);
}

LogicalResult lowerZeta(AtenOp& op) {
  return op.finish(writeTorchZeta(op.math, op.self(), op.operand("other", op.type())));
}

/// Derivative n of digamma: (-1)^(n + 1) n! zeta(n + 1, x).
LogicalResult lowerPolygamma(AtenOp& op) {
  Value x = op.self();
  int64_t n = op.integer("n", 0);
  if (n < 0) return op.error() << "is the derivative " << n << " of digamma; expected 0 or more";
  if (n == 0) return op.finish(writeTorchDigamma(op.math, x));
  if (n == 1) return op.finish(writeTrigamma(op.math, x));
  auto order = static_cast<double>(n);
  Value factor = op.splat((n % 2 ? 1 : -1) * std::tgamma(order + 1));
  return op.finish(op.math.multiply(factor, writeTorchZeta(op.math, op.splat(order + 1), x)));
}

/// log of the multivariate gamma function: log gamma of x, x - 1/2, ..., and a constant.
LogicalResult lowerMultivariateLogGamma(AtenOp& op) {
  int64_t p = op.integer("p", 1);
  if (p < 1 || p > 64) return op.error() << "is of dimension " << p << "; expected 1 to 64";
  Value x = op.self(), sum = op.splat(static_cast<double>(p * (p - 1)) / 4 * std::log(std::numbers::pi));
  for (int64_t i = 0; i < p; ++i)
    sum = op.math.add(sum, writeLogGamma(op.math, op.math.subtract(x, op.splat(static_cast<double>(i) / 2))));
  return op.finish(sum);
}

// Integrals
// -----------------------------------------------------------------------------------------------------------------

/// x^(a-1) e^-x / gamma(a), the derivative by x of the lower function.
Value writeGammaDensity(TensorMath& math, Value a, Value x) {
  Value power = math.multiply(math.subtract(a, math.splat(tensorType(a), 1.0)), math.create<math::LogOp>(x));
  return math.exponential(math.subtract(math.subtract(power, x), writeLogGamma(math, a)));
}

/// The value comes from loops of unknown length, which have no derivatives. By x there are others: the integral of the
/// density from x to x is 0, and written by Gauss's rule of two points it has the first four derivatives of the
/// function. By `self` there is none, as in PyTorch, and differentiation says so.
template <bool isUpper>
LogicalResult lowerIncompleteGamma(AtenOp& op) {
  TensorMath& math = op.math;
  RankedTensorType type = op.type();
  if (!isa<FloatType>(op.element())) return op.error() << "gives integers; expected floats; export the model anew";
  Value a = op.self(), x = op.operand("other", type);
  auto stop = [&](Value value) { return stopGradient(math.create<ReshapeOp>(type, value)); };
  Value value = writeIncompleteGamma(math, a, stop(x), isUpper), one = op.splat(1), zero = op.splat(0);
  // Below the least normal number the density may overflow.
  double least = APFloat::getSmallestNormalized(cast<FloatType>(op.element()).getFloatSemantics()).convertToDouble();
  Value isInside = math.both(math.both(math.isLess(op.splat(least), x), math.isLess(x, op.splat(kEnd))),
                             math.both(math.isLess(zero, a), math.isLess(a, op.splat(kEnd))));
  Value at = math.select(isInside, x, one), shape = math.select(isInside, stop(a), one), origin = stop(at);
  Value distance = math.subtract(at, origin), sum = zero;
  for (double side : {-1.0, 1.0}) {
    Value place = math.multiply(distance, op.splat(0.5 + side * std::numbers::inv_sqrt3 / 2));
    sum = math.add(sum, writeGammaDensity(math, shape, math.add(origin, place)));
  }
  Value integral = math.multiply(math.multiply(distance, sum), op.splat(isUpper ? -0.5 : 0.5));
  return op.finish(math.add(value, integral));
}

}  // namespace

void mlir::sgd::torch::addGammaOps(OpTable& table) {
  enter(table, {"lgamma.default", "special_gammaln.default"}, lowerLogGamma);
  enter(table, {"digamma.default", "special_psi.default", "special_digamma.default"}, lowerDigamma);
  enter(table, {"polygamma.default", "special_polygamma.default"}, lowerPolygamma);
  enter(table, {"mvlgamma.default", "special_multigammaln.default"}, lowerMultivariateLogGamma);
  enter(table, {"special_zeta.default", "special_zeta.other_scalar", "special_zeta.self_scalar"}, {lowerZeta, {}});
  enter(table, {"igamma.default", "special_gammainc.default"}, {lowerIncompleteGamma<false>, {"self", "other"}});
  enter(table, {"igammac.default", "special_gammaincc.default"}, {lowerIncompleteGamma<true>, {"self", "other"}});
}
