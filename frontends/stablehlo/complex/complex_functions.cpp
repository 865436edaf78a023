// Expands exponentials, logarithms, roots, powers, trigonometric and hyperbolic functions.
#include <cmath>
#include <limits>

#include "frontends/stablehlo/complex/complex_math.h"

using namespace mlir;
using namespace mlir::sgd;

namespace {

/// Beyond this exp(x) may overflow.
double getLargestExponent(Value part) { return isF64(part) ? 709.0 : 88.0; }

/// a * b as the sum of a rounded product and its error (T. J. Dekker, "A floating-point technique for extending the
/// available precision"), for f64 that is neither huge nor tiny.
std::pair<Value, Value> multiplyExactly(RealMath& m, Value a, Value b) {
  auto split = [&](Value x) {
    Value shifted = m.scale(x, 134217729.0);  // 2^27 + 1
    Value high = m.sub(shifted, m.sub(shifted, x));
    return std::pair(high, m.sub(x, high));
  };
  Value product = m.mul(a, b);
  auto [aHigh, aLow] = split(a);
  auto [bHigh, bLow] = split(b);
  Value error = m.sub(m.mul(aHigh, bHigh), product);
  error = m.add(m.add(error, m.mul(aHigh, bLow)), m.mul(aLow, bHigh));
  return {product, m.add(error, m.mul(aLow, bLow))};
}

/// x^2 + y^2 - 1 for magnitudes x >= y near the unit circle, where the sum cancels.
Value distanceFromUnit(RealMath& m, Value x, Value y) {
  Value below = m.plus(x, -1.0), above = m.plus(x, 1.0);
  // f64 holds the products of numbers that come from f32 but for the last bits.
  auto [product, productError] = multiplyExactly(m, below, above);
  auto [square, squareError] = multiplyExactly(m, y, y);
  return m.add(m.add(product, square), m.add(productError, squareError));
}

}  // namespace

Value mlir::sgd::logMagnitude(RealMath& m, Value x, Value y) {
  Value ax = m.abs(x), ay = m.abs(y);
  Value large = m.max(ax, ay), small = m.min(ax, ay);
  Value near = m.scale(m.log1p(distanceFromUnit(m, large, small)), 0.5);
  Value ratio = m.div(small, large);
  ratio = m.select(m.equals(small, 0.0), small, ratio);
  Value far = m.add(m.log(large), m.scale(m.log1p(m.mul(ratio, ratio)), 0.5));
  Value isNear = m.logicalAnd(m.isGreater(large, 0.5), m.isLess(large, 2.0));
  Value result = m.select(isNear, near, far);
  Value isInfinite = m.logicalOr(m.isInfinite(x), m.isInfinite(y));
  return m.select(isInfinite, m.splat(x, std::numeric_limits<double>::infinity()), result);
}

Complex mlir::sgd::squareRoot(RealMath& m, Complex z) {
  Value ax = m.abs(z.re), ay = m.abs(z.im);
  Value large = m.max(ax, ay), ratio = m.div(m.min(ax, ay), large);
  // sqrt((|z| + |x|) / 2), with both divided by the larger part.
  Value length = m.sqrt(m.plus(m.mul(ratio, ratio), 1.0));
  Value u = m.mul(m.sqrt(large), m.sqrt(m.scale(m.add(length, m.div(ax, large)), 0.5)));
  Value v = m.div(m.scale(z.im, 0.5), u);
  Value isRight = m.compare(stablehlo::ComparisonDirection::GE, z.re, m.splat(z.re, 0.0));
  Complex root{m.select(isRight, u, m.abs(v)), m.select(isRight, v, m.copySign(u, z.im))};
  Value zero = m.splat(z.re, 0.0), infinity = m.splat(z.re, std::numeric_limits<double>::infinity());
  root = m.select(m.equals(large, 0.0), Complex{zero, z.im}, root);
  // Of infinities: the real part decides unless the imaginary one is infinite.
  Complex ofReal{m.select(isRight, infinity, m.select(m.isFinite(z.im), zero, z.im)),
                 m.copySign(m.select(isRight, m.select(m.isFinite(z.im), zero, z.im), infinity), z.im)};
  root = m.select(m.isInfinite(z.re), ofReal, root);
  return m.select(m.isInfinite(z.im), Complex{infinity, z.im}, root);
}

Hyperbolic mlir::sgd::hyperbolic(RealMath& m, Value x) {
  Value isLarge = m.isGreater(m.abs(x), getLargestExponent(x));
  Value half = m.exp(m.scale(m.abs(x), 0.5));
  Value halved = m.scale(half, 0.5);
  return {m.select(isLarge, m.copySign(halved, x), m.sinh(x)), m.select(isLarge, halved, m.cosh(x)),
          m.select(isLarge, half, m.splat(x, 1.0))};
}

namespace {

/// `value`, but `other` where `part` is zero: a factor of infinity or NaN beside it does not count.
Value unlessZero(RealMath& m, Value part, Value value, Value other) {
  return m.select(m.equals(part, 0.0), other, value);
}

Complex exponential(RealMath& m, Complex z) {
  // exp(x) may overflow though its products with a sine do not.
  Value isLarge = m.isGreater(z.re, getLargestExponent(z.re));
  Value power = m.exp(m.select(isLarge, m.scale(z.re, 0.5), z.re));
  Value factor = m.select(isLarge, power, m.splat(z.re, 1.0));
  Complex result{m.mul(m.mul(power, m.cos(z.im)), factor), m.mul(m.mul(power, m.sin(z.im)), factor)};
  result.im = unlessZero(m, z.im, result.im, z.im);
  // At minus infinity the angle does not count.
  Value vanishes = m.equals(z.re, -std::numeric_limits<double>::infinity());
  Value zero = m.splat(z.re, 0.0);
  Value isLost = m.logicalAnd(vanishes, m.logicalNot(m.isFinite(z.im)));
  return m.select(isLost, Complex{zero, zero}, result);
}

Complex exponentialMinusOne(RealMath& m, Complex z) {
  Value sine = m.sin(m.scale(z.im, 0.5));
  // cos(y) - 1 = -2 sin(y / 2)^2
  Value re = m.sub(m.mul(m.expm1(z.re), m.cos(z.im)), m.scale(m.mul(sine, sine), 2.0));
  Complex whole = exponential(m, z);
  re = m.select(m.isGreater(z.re, 20.0), whole.re, re);
  return {unlessZero(m, z.im, re, m.expm1(z.re)), whole.im};
}

Complex logarithm(RealMath& m, Complex z) { return {logMagnitude(m, z.re, z.im), m.atan2(z.im, z.re)}; }

/// log(1 + z): near 0 by x (x + 2) + y^2, else of the sum.
Complex logarithmPlusOne(RealMath& m, Complex z) {
  Value shifted = m.plus(z.re, 1.0);
  auto [product, productError] = multiplyExactly(m, z.re, m.plus(z.re, 2.0));
  auto [square, squareError] = multiplyExactly(m, z.im, z.im);
  Value distance = m.add(m.add(product, square), m.add(productError, squareError));
  Value isNear = m.logicalAnd(m.isLess(m.abs(z.re), 0.5), m.isLess(m.abs(z.im), 0.5));
  Value re = m.select(isNear, m.scale(m.log1p(distance), 0.5), logMagnitude(m, shifted, z.im));
  return {re, m.atan2(z.im, shifted)};
}

Complex sine(RealMath& m, Complex z) {
  Hyperbolic h = hyperbolic(m, z.im);
  Value re = m.mul(m.mul(m.sin(z.re), h.cosh), h.factor);
  Value im = m.mul(m.mul(m.cos(z.re), h.sinh), h.factor);
  return {unlessZero(m, z.re, re, z.re), unlessZero(m, z.im, im, z.im)};
}

Complex cosine(RealMath& m, Complex z) {
  Hyperbolic h = hyperbolic(m, z.im);
  Value re = m.mul(m.mul(m.cos(z.re), h.cosh), h.factor);
  Value im = m.neg(m.mul(m.mul(m.sin(z.re), h.sinh), h.factor));
  Value isReal = m.logicalOr(m.equals(z.re, 0.0), m.equals(z.im, 0.0));
  return {re,
          m.select(isReal, m.neg(m.mul(m.copySign(m.splat(im, 0.0), z.re), m.copySign(m.splat(im, 1.0), z.im))), im)};
}

/// sinh(z) = -i sin(iz) and cosh(z) = cos(iz), iz = -y + ix.
Complex hyperbolicSine(RealMath& m, Complex z) {
  Complex s = sine(m, Complex{z.im, z.re});
  return {s.im, s.re};
}
Complex hyperbolicCosine(RealMath& m, Complex z) { return cosine(m, Complex{m.neg(z.im), z.re}); }

/// Far from the imaginary axis the hyperbolic tangent is 1 and its imaginary part small.
Complex hyperbolicTangent(RealMath& m, Complex z) {
  double bound = isF64(z.re) ? 300.0 : 30.0;
  Value limit = m.splat(z.re, bound), magnitude = m.abs(z.re);
  Value inside = m.copySign(m.min(magnitude, limit), z.re);
  Value beyond = m.max(m.sub(magnitude, limit), m.splat(z.re, 0.0));
  Value sh = m.sinh(inside), ch = m.cosh(inside), s = m.sin(z.im), c = m.cos(z.im);
  Value denominator = m.add(m.mul(sh, sh), m.mul(c, c));
  Value re = m.div(m.mul(sh, ch), denominator);
  Value im = m.mul(m.div(m.mul(s, c), denominator), m.exp(m.scale(beyond, -2.0)));
  Value isFar = m.isInfinite(z.re);
  re = m.select(isFar, m.copySign(m.splat(re, 1.0), z.re), re);
  im = m.select(isFar, m.copySign(m.splat(im, 0.0), m.select(m.isFinite(z.im), m.mul(s, c), z.im)), im);
  return {re, unlessZero(m, z.im, im, z.im)};
}

/// tan(z) = -i tanh(iz)
Complex tangent(RealMath& m, Complex z) {
  Complex t = hyperbolicTangent(m, Complex{z.im, z.re});
  return {t.im, t.re};
}

Complex reciprocalSquareRoot(RealMath& m, Complex z) {
  Complex root = squareRoot(m, z);
  return divide(m, Complex{m.splat(z.re, 1.0), m.splat(z.re, 0.0)}, root);
}

/// |z|^(u + iv) by magnitude and angle, as the exponential of (u + iv) log z.
Complex power(RealMath& m, Complex z, Complex w) {
  Value length = hypotenuse(m, z.re, z.im), angle = m.atan2(z.im, z.re);
  Value logLength = logMagnitude(m, z.re, z.im);
  Value magnitude = m.mul(m.pow(length, w.re), m.exp(m.neg(m.mul(w.im, angle))));
  Value turned = m.add(m.mul(w.re, angle), m.mul(w.im, logLength));
  Complex result{m.mul(magnitude, m.cos(turned)), m.mul(magnitude, m.sin(turned))};
  Value zero = m.splat(z.re, 0.0), one = m.splat(z.re, 1.0);
  Value isOne = m.logicalAnd(m.equals(w.re, 0.0), m.equals(w.im, 0.0));
  Value isZero = m.logicalAnd(m.equals(length, 0.0), m.isGreater(w.re, 0.0));
  result = m.select(isZero, Complex{zero, zero}, result);
  return m.select(isOne, Complex{one, zero}, result);
}

LogicalResult expandPower(ComplexOp& c) {
  Complex z = c.operand(0), w = c.operand(1);
  Type own = tensorType(z.re).getElementType(), wide = getWideElement(c, z.re);
  return c.finish(c.convert(power(c, c.convert(z, wide), c.convert(w, wide)), own));
}

/// The root of a third of the angle, as XLA has it; of negative numbers that is not the real one.
Complex cubeRoot(RealMath& m, Complex z) { return power(m, z, Complex{m.splat(z.re, 1.0 / 3.0), m.splat(z.re, 0.0)}); }

template <Complex (*formula)(RealMath&, Complex)>
LogicalResult expandFunction(ComplexOp& c) {
  auto accuracy = c.op->getAttrOfType<stablehlo::ResultAccuracyAttr>("result_accuracy");
  if (accuracy && accuracy.getMode().getValue() == stablehlo::ResultAccuracyMode::TOLERANCE)
    return c.error() << "asks for a result_accuracy, which is not supported; leave it to the default";
  return c.finish(formula(c, c.operand()));
}

/// 1 / (1 + exp(-z))
Complex logistic(RealMath& m, Complex z) {
  Complex power = exponential(m, Complex{m.neg(z.re), m.neg(z.im)});
  return divide(m, Complex{m.splat(z.re, 1.0), m.splat(z.re, 0.0)}, Complex{m.plus(power.re, 1.0), power.im});
}

}  // namespace

void mlir::sgd::addComplexFunctions(ExpansionTable& table) {
  table["chlo.cosh"] = expandFunction<hyperbolicCosine>;
  table["chlo.sinh"] = expandFunction<hyperbolicSine>;
  table["chlo.tan"] = expandFunction<tangent>;
  table["stablehlo.cbrt"] = expandInWide<cubeRoot>;
  table["stablehlo.cosine"] = expandFunction<cosine>;
  table["stablehlo.exponential"] = expandFunction<exponential>;
  table["stablehlo.exponential_minus_one"] = expandFunction<exponentialMinusOne>;
  table["stablehlo.log"] = expandInWide<logarithm>;
  table["stablehlo.log_plus_one"] = expandInWide<logarithmPlusOne>;
  table["stablehlo.logistic"] = expandFunction<logistic>;
  table["stablehlo.power"] = expandPower;
  table["stablehlo.rsqrt"] = expandFunction<reciprocalSquareRoot>;
  table["stablehlo.sine"] = expandFunction<sine>;
  table["stablehlo.sqrt"] = expandFunction<squareRoot>;
  table["stablehlo.tan"] = expandFunction<tangent>;
  table["stablehlo.tanh"] = expandFunction<hyperbolicTangent>;
}
