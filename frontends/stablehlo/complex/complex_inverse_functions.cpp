// Expands inverse trigonometric and hyperbolic functions. Arcsine and arccosine after T. Hull, T. Fairgrieve, P. Tang,
// "Implementing the complex arcsine and arccosine functions using exception handling".
#include <cmath>
#include <limits>

#include "frontends/stablehlo/complex/complex_math.h"

using namespace mlir;
using namespace mlir::sgd;

namespace {

constexpr double kPi = 3.14159265358979323846, kLog2 = 0.69314718055994530942;
/// Beyond this magnitude asin(z) is log(2z) to the last bit; its square is finite in f64.
constexpr double kHuge = 0x1p500;

/// In the first quadrant: real parts of arcsine and arccosine, and the imaginary part that both have but for its sign.
struct ArcParts {
  Value arcsine, arccosine, imaginary;
};

/// Of magnitudes x and y of wide type.
ArcParts arcParts(RealMath& m, Value x, Value y) {
  Value one = m.splat(x, 1.0), zero = m.splat(x, 0.0);
  Value isHuge = m.isGreater(m.max(x, y), kHuge);
  Value u = m.select(isHuge, one, x), v = m.select(isHuge, one, y);
  Value up = m.plus(u, 1.0), down = m.abs(m.plus(u, -1.0));
  Value r = hypotenuse(m, up, v), s = hypotenuse(m, down, v);
  Value a = m.scale(m.add(r, s), 0.5), sum = m.add(a, u);
  Value isInside = m.compare(stablehlo::ComparisonDirection::LE, u, one);
  // v^2 / (r + up) and v^2 / (s + down) without the square of a small v; both are zero on the real axis.
  Value first = m.div(v, m.add(r, up)), second = m.div(v, m.add(s, down));
  second = m.select(m.equals(v, 0.0), zero, second);
  // Inside (|x| <= 1), sqrt(a^2 - x^2) has the terms v^2 / (r + up) + (s + 1 - x); outside v times a root.
  Value inside = m.sqrt(m.mul(m.scale(sum, 0.5), m.add(m.mul(v, first), m.add(s, down))));
  Value outside = m.mul(v, m.sqrt(m.scale(m.add(m.div(sum, m.add(r, up)), m.div(sum, m.add(s, down))), 0.5)));
  outside = m.select(m.equals(v, 0.0), zero, outside);
  Value t = m.select(isInside, inside, outside);
  // log(a + sqrt(a^2 - 1)) near a = 1, by a - 1.
  Value rest = m.select(isInside, m.mul(v, second), m.add(s, down));
  Value less = m.scale(m.add(m.mul(v, first), rest), 0.5);
  Value rootInside = m.mul(m.sqrt(v), m.sqrt(m.mul(m.scale(m.add(first, second), 0.5), m.plus(a, 1.0))));
  Value rootOutside = m.sqrt(m.mul(less, m.plus(a, 1.0)));
  Value imaginary = m.log1p(m.add(less, m.select(isInside, rootInside, rootOutside)));
  Value largeLog = m.plus(logMagnitude(m, x, y), kLog2);
  return {m.select(isHuge, m.atan2(x, y), m.atan2(u, t)), m.select(isHuge, m.atan2(y, x), m.atan2(t, u)),
          m.select(isHuge, largeLog, imaginary)};
}

Complex arcsine(RealMath& m, Complex z) {
  ArcParts parts = arcParts(m, m.abs(z.re), m.abs(z.im));
  return {m.copySign(parts.arcsine, z.re), m.copySign(parts.imaginary, z.im)};
}

Complex arccosine(RealMath& m, Complex z) {
  ArcParts parts = arcParts(m, m.abs(z.re), m.abs(z.im));
  Value isLeft = m.isLess(z.re, 0.0);
  Value re = m.select(isLeft, m.sub(m.splat(z.re, kPi), parts.arccosine), parts.arccosine);
  return {re, m.neg(m.copySign(parts.imaginary, z.im))};
}

/// asinh(z) = -i asin(iz)
Complex hyperbolicArcsine(RealMath& m, Complex z) {
  Complex swapped = arcsine(m, Complex{z.im, z.re});
  return {swapped.im, swapped.re};
}

/// acosh(z) = +-i acos(z), with a real part that is not negative
Complex hyperbolicArccosine(RealMath& m, Complex z) {
  Complex angle = arccosine(m, z);
  return {m.abs(angle.im), m.copySign(angle.re, z.im)};
}

/// W. Kahan, "Branch cuts for complex elementary functions".
Complex hyperbolicArctangent(RealMath& m, Complex z) {
  Value x = m.abs(z.re), y = m.abs(z.im), one = m.splat(x, 1.0), zero = m.splat(x, 0.0);
  Value isHuge = m.isGreater(m.max(x, y), kHuge);
  Value u = m.select(isHuge, one, x), v = m.select(isHuge, one, y);
  Value less = m.sub(one, u), square = m.mul(v, v);
  Value re = m.scale(m.log1p(m.div(m.scale(u, 4.0), m.add(m.mul(less, less), square))), 0.25);
  // Beside the pole the square of a small v vanishes.
  Value isAtPole = m.logicalAnd(m.equals(less, 0.0), m.isLess(v, 0x1p-500));
  re = m.select(isAtPole, m.scale(m.sub(m.splat(v, kLog2), m.log(v)), 0.5), re);
  Value angle = m.scale(m.atan2(m.scale(v, 2.0), m.sub(m.mul(less, m.plus(u, 1.0)), square)), 0.5);
  // x / |z|^2, by the larger part first.
  Value large = m.max(x, y), ratio = m.div(m.min(x, y), large);
  Value far = m.div(m.div(m.div(x, large), large), m.plus(m.mul(ratio, ratio), 1.0));
  far = m.select(m.logicalNot(m.isFinite(large)), zero, far);
  re = m.select(isHuge, far, re);
  angle = m.select(isHuge, m.splat(x, kPi / 2), angle);
  return {m.copySign(re, z.re), m.copySign(angle, z.im)};
}

/// atan(z) = -i atanh(iz)
Complex arctangent(RealMath& m, Complex z) {
  Complex swapped = hyperbolicArctangent(m, Complex{z.im, z.re});
  return {swapped.im, swapped.re};
}

}  // namespace

void mlir::sgd::addComplexInverseFunctions(ExpansionTable& table) {
  table["chlo.acos"] = expandInWide<arccosine>;
  table["chlo.acosh"] = expandInWide<hyperbolicArccosine>;
  table["chlo.asin"] = expandInWide<arcsine>;
  table["chlo.asinh"] = expandInWide<hyperbolicArcsine>;
  table["chlo.atan"] = expandInWide<arctangent>;
  table["chlo.atanh"] = expandInWide<hyperbolicArctangent>;
}
