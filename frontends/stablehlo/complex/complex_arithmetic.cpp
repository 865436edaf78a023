// Expands the arithmetic of complex numbers, comparisons and magnitudes.
#include <limits>

#include "frontends/stablehlo/complex/complex_math.h"

using namespace mlir;
using namespace mlir::sgd;

bool mlir::sgd::isF64(Value part) { return tensorType(part).getElementType().isF64(); }

Type mlir::sgd::getWideElement(RealMath& m, Value part) {
  Type element = tensorType(part).getElementType();
  return element.isF32() ? m.builder.getF64Type() : element;
}

Complex mlir::sgd::multiply(RealMath& m, Complex x, Complex y) {
  return {m.sub(m.mul(x.re, y.re), m.mul(x.im, y.im)), m.add(m.mul(x.re, y.im), m.mul(x.im, y.re))};
}

Value mlir::sgd::hypotenuse(RealMath& m, Value x, Value y) {
  if (!isF64(x)) {
    Type own = tensorType(x).getElementType();
    Complex wide = m.convert(Complex{x, y}, m.builder.getF64Type());
    Value root = m.sqrt(m.add(m.mul(wide.re, wide.re), m.mul(wide.im, wide.im)));
    // An infinite part outweighs a NaN beside it.
    Value isInfinite = m.logicalOr(m.isInfinite(x), m.isInfinite(y));
    return m.select(isInfinite, m.splat(x, std::numeric_limits<double>::infinity()), m.convert(root, own));
  }
  Value ax = m.abs(x), ay = m.abs(y);
  Value large = m.max(ax, ay), small = m.min(ax, ay);
  Value ratio = m.div(small, large);
  Value length = m.mul(large, m.sqrt(m.plus(m.mul(ratio, ratio), 1.0)));
  length = m.select(m.equals(large, 0.0), large, length);
  Value isInfinite = m.logicalOr(m.isInfinite(x), m.isInfinite(y));
  return m.select(isInfinite, m.splat(x, std::numeric_limits<double>::infinity()), length);
}

namespace {

/// 2^exponent for the elements of `x` that are too large or small to be squared and added, else 1: factors that bring
/// them near 1.
Value scaleFor(RealMath& m, Value magnitude) {
  Value one = m.splat(magnitude, 1.0);
  Value factor = m.select(m.isGreater(magnitude, 0x1p500), m.splat(magnitude, 0x1p-600), one);
  return m.select(m.isLess(magnitude, 0x1p-400), m.splat(magnitude, 0x1p600), factor);
}

/// Smith's method on operands scaled by powers of two (M. Baudin, R. Smith, "A robust complex division in Scilab").
Complex divideScaled(RealMath& m, Complex x, Complex y) {
  Value yScale = scaleFor(m, m.max(m.abs(y.re), m.abs(y.im)));
  Value xScale = scaleFor(m, m.max(m.abs(x.re), m.abs(x.im)));
  Complex a{m.mul(x.re, xScale), m.mul(x.im, xScale)}, b{m.mul(y.re, yScale), m.mul(y.im, yScale)};
  Value isReal = m.compare(stablehlo::ComparisonDirection::GE, m.abs(b.re), m.abs(b.im));
  Value large = m.select(isReal, b.re, b.im), small = m.select(isReal, b.im, b.re);
  Value ratio = m.div(small, large);
  Value denominator = m.add(large, m.mul(small, ratio));
  Value re = m.add(m.select(isReal, a.re, a.im), m.mul(m.select(isReal, a.im, a.re), ratio));
  Value im = m.sub(m.select(isReal, a.im, m.mul(a.im, ratio)), m.select(isReal, m.mul(a.re, ratio), a.re));
  // First the factor that brings the quotient nearer to 1.
  auto unscale = [&](Value part) { return m.div(m.mul(m.div(part, denominator), yScale), xScale); };
  return {unscale(re), unscale(im)};
}

}  // namespace

Complex mlir::sgd::divide(RealMath& m, Complex x, Complex y) {
  Complex quotient;
  if (!isF64(x.re)) {
    Type own = tensorType(x.re).getElementType(), wide = m.builder.getF64Type();
    Complex a = m.convert(x, wide), b = m.convert(y, wide);
    Value denominator = m.add(m.mul(b.re, b.re), m.mul(b.im, b.im));
    Complex numerator = multiply(m, a, Complex{b.re, m.neg(b.im)});
    quotient = m.convert(Complex{m.div(numerator.re, denominator), m.div(numerator.im, denominator)}, own);
  } else {
    quotient = divideScaled(m, x, y);
  }
  // Annex G of the C standard: by zero, of infinities and by infinities.
  Value zero = m.splat(x.re, 0.0), infinity = m.splat(x.re, std::numeric_limits<double>::infinity());
  Value isByZero = m.logicalAnd(m.equals(y.re, 0.0), m.equals(y.im, 0.0));
  Value signedInfinity = m.copySign(infinity, y.re);
  Complex ofZero{m.mul(signedInfinity, x.re), m.mul(signedInfinity, x.im)};
  Value xInfinite = m.logicalOr(m.isInfinite(x.re), m.isInfinite(x.im));
  Value yInfinite = m.logicalOr(m.isInfinite(y.re), m.isInfinite(y.im));
  Value xFinite = m.logicalAnd(m.isFinite(x.re), m.isFinite(x.im));
  Value yFinite = m.logicalAnd(m.isFinite(y.re), m.isFinite(y.im));
  auto unit = [&](Value part) { return m.copySign(m.select(m.isInfinite(part), m.splat(part, 1.0), zero), part); };
  auto product = [&](Complex a, Complex b, Value factor) {
    Complex p = multiply(m, a, Complex{b.re, m.neg(b.im)});
    return Complex{m.mul(factor, p.re), m.mul(factor, p.im)};
  };
  Complex ofInfinity = product(Complex{unit(x.re), unit(x.im)}, y, infinity);
  Complex byInfinity = product(x, Complex{unit(y.re), unit(y.im)}, zero);
  quotient = m.select(m.logicalAnd(yInfinite, xFinite), byInfinity, quotient);
  quotient = m.select(m.logicalAnd(xInfinite, yFinite), ofInfinity, quotient);
  return m.select(isByZero, ofZero, quotient);
}

namespace {

template <typename OpTy>
LogicalResult expandPartwise(ComplexOp& c) {
  Complex x = c.operand(0), y = c.operand(1);
  return c.finish(Complex{c.apply<OpTy>(x.re, y.re), c.apply<OpTy>(x.im, y.im)});
}

LogicalResult expandNegate(ComplexOp& c) {
  Complex z = c.operand();
  return c.finish(Complex{c.neg(z.re), c.neg(z.im)});
}

LogicalResult expandMultiply(ComplexOp& c) { return c.finish(multiply(c, c.operand(0), c.operand(1))); }
LogicalResult expandDivide(ComplexOp& c) { return c.finish(divide(c, c.operand(0), c.operand(1))); }

/// (x - y)(x + y) does not cancel.
LogicalResult expandSquare(ComplexOp& c) {
  Complex z = c.operand();
  // Also where the sum of equal parts overflows.
  Value isEqual = c.compare(stablehlo::ComparisonDirection::EQ, c.abs(z.re), c.abs(z.im));
  isEqual = c.logicalAnd(isEqual, c.isFinite(z.re));
  Value re = c.mul(c.sub(z.re, z.im), c.add(z.re, z.im));
  return c.finish(Complex{c.select(isEqual, c.splat(re, 0.0), re), c.scale(c.mul(z.re, z.im), 2.0)});
}

LogicalResult expandAbs(ComplexOp& c) {
  Complex z = c.operand();
  return c.finish(hypotenuse(c, z.re, z.im));
}

/// z / |z|; of zero, zero.
LogicalResult expandSign(ComplexOp& c) {
  Complex z = c.operand();
  Value length = hypotenuse(c, z.re, z.im);
  Value isZero = c.equals(length, 0.0);
  Complex unit{c.div(z.re, length), c.div(z.im, length)};
  return c.finish(c.select(isZero, Complex{length, length}, unit));
}

LogicalResult expandCompare(ComplexOp& c) {
  auto compare = cast<stablehlo::CompareOp>(c.op);
  Complex x = c.operand(0), y = c.operand(1);
  Value re = c.compare(compare.getComparisonDirection(), x.re, y.re);
  Value im = c.compare(compare.getComparisonDirection(), x.im, y.im);
  if (compare.getComparisonDirection() == stablehlo::ComparisonDirection::EQ) return c.finish(c.logicalAnd(re, im));
  if (compare.getComparisonDirection() == stablehlo::ComparisonDirection::NE) return c.finish(c.logicalOr(re, im));
  return c.error() << "orders complex numbers, which have no order; compare real and imaginary parts";
}

/// The larger or smaller number by real parts and, where these are equal, imaginary ones, as the specification has it.
/// Of numbers with a NaN it is one of them.
template <stablehlo::ComparisonDirection direction>
LogicalResult expandExtreme(ComplexOp& c) {
  Complex x = c.operand(0), y = c.operand(1);
  auto isNan = [&](Complex z) {
    auto differs = [&](Value part) { return c.compare(stablehlo::ComparisonDirection::NE, part, part); };
    return c.logicalOr(differs(z.re), differs(z.im));
  };
  Value isEqual = c.compare(stablehlo::ComparisonDirection::EQ, x.re, y.re);
  Value isFirst =
      c.logicalOr(c.compare(direction, x.re, y.re), c.logicalAnd(isEqual, c.compare(direction, x.im, y.im)));
  isFirst = c.logicalOr(isNan(x), c.logicalAnd(isFirst, c.logicalNot(isNan(y))));
  return c.finish(c.select(isFirst, x, y));
}

}  // namespace

void mlir::sgd::addComplexArithmetic(ExpansionTable& table) {
  table["chlo.square"] = expandSquare;
  table["stablehlo.abs"] = expandAbs;
  table["stablehlo.add"] = expandPartwise<stablehlo::AddOp>;
  table["stablehlo.compare"] = expandCompare;
  table["stablehlo.divide"] = expandDivide;
  table["stablehlo.maximum"] = expandExtreme<stablehlo::ComparisonDirection::GT>;
  table["stablehlo.minimum"] = expandExtreme<stablehlo::ComparisonDirection::LT>;
  table["stablehlo.multiply"] = expandMultiply;
  table["stablehlo.negate"] = expandNegate;
  table["stablehlo.sign"] = expandSign;
  table["stablehlo.subtract"] = expandPartwise<stablehlo::SubtractOp>;
}
