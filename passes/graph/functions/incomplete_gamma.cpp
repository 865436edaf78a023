// The series below a, the continued fraction above (W. Gautschi, "A computational procedure for incomplete gamma
// functions", 1979), each for its elements in a loop of its own.
#include <numbers>

#include "passes/graph/functions/elementwise_loop.h"
#include "passes/graph/functions/float_math.h"
#include "passes/graph/functions/special_functions.h"

using namespace mlir;
using namespace mlir::sgd;

namespace {

constexpr double kMostTerms = 20000;

double getPrecision(RankedTensorType type) { return type.getElementTypeBitWidth() == 64 ? 0x1p-53 : 0x1p-24; }

/// log(1 + d) - d, which keeps its digits where d is small.
Value buildLogExcess(FloatMath& b, Value d) {
  constexpr int kOrder = 24;
  constexpr double kNear = 0.2;
  Value sum = b.number(0);
  for (int k = kOrder; k >= 2; --k) sum = b.add(b.multiply(sum, d), (k % 2 ? 1.0 : -1.0) / k);
  Value isNear = b.isLess(b.absolute(d), kNear);
  Value far = b.choose(isNear, b.number(0), d);
  return b.choose(isNear, b.multiply(b.multiply(sum, d), d), b.subtract(b.create<math::Log1pOp>(far), far));
}

/// x^a e^-x / gamma(a + 1). Above 10 by Stirling's series, as the difference of its large parts has no digits left.
Value buildFactor(FloatMath& b, Value a, Value x) {
  constexpr double kLarge = 10;
  // 1 / 12 a - 1 / 360 a^3 + ...
  constexpr double kStirling[] = {-1.0 / 1680, 1.0 / 1260, -1.0 / 360, 1.0 / 12};
  Value isLarge = b.isLess(b.number(kLarge), a);
  Value large = b.choose(isLarge, a, b.number(kLarge)), inverse = b.divide(b.number(1), large);
  Value squared = b.multiply(inverse, inverse), rest = b.number(0);
  for (double coefficient : kStirling) rest = b.add(b.multiply(rest, squared), coefficient);
  Value excess = buildLogExcess(b, b.divide(b.subtract(x, large), large));
  Value exponent = b.subtract(b.multiply(excess, large), b.multiply(rest, inverse));
  Value root = b.create<math::RsqrtOp>(b.multiply(large, 2 * std::numbers::pi));
  Value small = b.choose(isLarge, b.number(1), a);
  Value plain = b.subtract(b.subtract(b.multiply(b.log(x), small), x), writeLogGamma(b, b.add(small, 1)));
  return b.choose(isLarge, b.multiply(b.exponential(exponent), root), b.exponential(plain));
}

/// 1 + x / (a + 1) + x^2 / (a + 1)(a + 2) + ...
Value buildSeries(FloatMath& b, Value a, Value x) {
  RankedTensorType type = b.type;
  auto goesOn = [&](TensorMath& math, ValueRange v) {
    FloatMath at(math, type);
    Value isRelevant = at.isLess(at.multiply(v[1], getPrecision(type)), v[0]);
    return at.both(isRelevant, at.isLess(v[2], at.add(v[3], kMostTerms)));
  };
  // The term, the sum, a + k, a and x.
  return writeWhile(b, {b.number(1), b.number(1), a, a, x}, goesOn,
                    [&](TensorMath& math, ValueRange v) -> SmallVector<Value> {
                      FloatMath at(math, type);
                      Value next = at.add(v[2], 1), term = at.divide(at.multiply(v[0], v[4]), next);
                      return {term, at.add(v[1], term), next, v[3], v[4]};
                    })[1];
}

/// 1 / (x + 1 - a - 1 (1 - a) / (x + 3 - a - ...)), by W. Lentz's method.
Value buildFraction(FloatMath& b, Value a, Value x) {
  constexpr double kTiny = 1e-30;
  RankedTensorType type = b.type;
  Value first = b.add(b.subtract(x, a), 1), start = b.divide(b.number(1), first);
  auto goesOn = [&](TensorMath& math, ValueRange v) {
    FloatMath at(math, type);
    Value isOpen = at.isLess(at.number(4 * getPrecision(type)), at.absolute(at.add(v[4], -1)));
    return at.both(isOpen, at.isLess(v[5], kMostTerms));
  };
  auto keepAway = [&](FloatMath& at, Value value) {
    return at.choose(at.isLess(at.absolute(value), kTiny), kTiny, value);
  };
  // The denominator, c, d, the fraction, its last factor, the number of the term and a.
  return writeWhile(b, {first, b.number(1 / kTiny), start, start, b.number(0), b.number(0), a}, goesOn,
                    [&](TensorMath& math, ValueRange v) -> SmallVector<Value> {
                      FloatMath at(math, type);
                      Value number = at.add(v[5], 1), next = at.add(v[0], 2);
                      Value over = at.multiply(number, at.subtract(v[6], number));
                      Value d = at.divide(at.number(1), keepAway(at, at.add(at.multiply(over, v[2]), next)));
                      Value c = keepAway(at, at.add(next, at.divide(over, v[1])));
                      Value factor = at.multiply(c, d);
                      return {next, c, d, at.multiply(v[3], factor), factor, number, v[6]};
                    })[3];
}

Value buildIncompleteGamma(FloatMath& b, Value a, Value x, bool isUpper) {
  // Elements of the other method get numbers for which it ends soon.
  Value isUsual = b.both(b.both(b.isLess(b.number(0), a), b.isLess(b.number(0), x)),
                         b.both(b.isLess(a, kInfinity), b.isLess(x, kInfinity)));
  Value isAbove = b.both(isUsual, b.both(b.isLess(b.number(1), x), b.isLess(a, x)));
  Value isBelow = b.both(isUsual, b.negate(isAbove));
  Value one = b.number(1), ownA = b.choose(isUsual, a, one), ownX = b.choose(isUsual, x, one);
  Value factor = buildFactor(b, ownA, ownX);
  Value lower = b.multiply(factor, buildSeries(b, b.choose(isBelow, a, one), b.choose(isBelow, x, b.number(0.5))));
  Value fraction = buildFraction(b, b.choose(isAbove, a, one), b.choose(isAbove, x, b.number(2)));
  Value upper = b.multiply(b.multiply(factor, ownA), fraction);
  Value result =
      isUpper ? b.choose(isAbove, upper, b.subtract(one, lower)) : b.choose(isAbove, b.subtract(one, upper), lower);
  // At the ends of a or x the function is 0 or 1; of two ends, and of what is negative, it is not defined.
  auto isBetween = [&](Value value) { return b.both(b.isLess(b.number(0), value), b.isLess(value, kInfinity)); };
  Value aIsZero = b.isEqual(a, b.number(0)), aIsEnd = b.isEqual(a, b.number(kInfinity));
  Value xIsZero = b.isEqual(x, b.number(0)), xIsEnd = b.isEqual(x, b.number(kInfinity));
  Value end = b.number(kNan);
  end = b.choose(b.both(aIsZero, b.isLess(b.number(0), x)), isUpper ? 0 : 1, end);
  end = b.choose(b.both(xIsZero, b.isLess(b.number(0), a)), isUpper ? 1 : 0, end);
  end = b.choose(b.both(aIsEnd, isBetween(x)), isUpper ? 1 : 0, end);
  end = b.choose(b.both(xIsEnd, isBetween(a)), isUpper ? 0 : 1, end);
  return b.choose(isUsual, result, end);
}

}  // namespace

Value mlir::sgd::writeIncompleteGamma(TensorMath& math, Value a, Value x, bool isUpper) {
  return writeWide(math, {a, x},
                   [&](FloatMath& b, ArrayRef<Value> v) { return buildIncompleteGamma(b, v[0], v[1], isUpper); });
}
