// Log gamma, digamma, the Hurwitz zeta function, polygamma, Bessel functions and a scaled erfc.
#include <numbers>

#include "passes/graph/functions/float_math.h"
#include "passes/graph/functions/special_functions.h"

using namespace mlir;
using namespace mlir::sgd;

namespace {

constexpr double kPi = std::numbers::pi;

/// gamma(z + 1) = sqrt(2 pi) t^(z + 1/2) e^-t a(z) with t = z + kLanczos + 1/2 and a = kLanczosBase + sum of
/// coefficient k / (z + k): C. Lanczos, "A precision approximation of the gamma function", 1964.
constexpr double kLanczos = 7, kLanczosBase = 0.99999999999980993227684700473478;
constexpr double kLanczosCoefficients[] = {676.520368121885098567009190444019, -1259.13921672240287047156078755283,
                                           771.3234287776530788486528258894,   -176.61502916214059906584551354,
                                           12.507343278686904814458936853,     -0.13857109526572011689554707,
                                           9.984369578019570859563e-6,         1.50563273514931155834e-7};

struct Lanczos {
  Value isReflected, z, t, logT;
};

/// Below 1/2 functions are reflected: z is -x there and x - 1 elsewhere.
Lanczos prepareLanczos(FloatMath& b, Value x) {
  Lanczos lanczos;
  lanczos.isReflected = b.isLess(x, 0.5);
  lanczos.z = b.choose(lanczos.isReflected, b.minus(x), b.add(x, -1));
  lanczos.t = b.add(lanczos.z, kLanczos + 0.5);
  // Keeps the digits that the sum loses where z is small.
  Value relative = b.divide(lanczos.z, b.number(kLanczos + 0.5));
  lanczos.logT = b.add(b.create<math::Log1pOp>(relative), std::log(kLanczos + 0.5));
  return lanczos;
}

Value buildLogGamma(FloatMath& b, Value x) {
  Lanczos lanczos = prepareLanczos(b, x);
  Value sum = b.number(kLanczosBase);
  for (auto [k, coefficient] : llvm::enumerate(kLanczosCoefficients))
    sum = b.add(sum, b.divide(b.number(coefficient), b.add(lanczos.z, static_cast<double>(k + 1))));
  // (z + 1/2) log t - t, whose parts may overflow where their difference does not.
  Value factor = b.subtract(b.add(lanczos.z, 0.5), b.divide(lanczos.t, lanczos.logT));
  Value logGamma = b.add(b.add(b.multiply(factor, lanczos.logT), std::log(2 * kPi) / 2), b.log(sum));
  // gamma(x) gamma(1 - x) = pi / sin(pi x); the sine of the distance to the next integer keeps its digits. Elsewhere
  // any number has a derivative.
  Value magnitude = b.absolute(x), mirrored = b.choose(lanczos.isReflected, magnitude, b.number(0.25));
  Value fraction = b.subtract(mirrored, b.floor(mirrored));
  Value distance = b.choose(b.compare(arith::CmpFPredicate::OGT, fraction, b.number(0.5)),
                            b.subtract(b.number(1), fraction), fraction);
  Value logSine = b.log(b.create<math::SinOp>(b.multiply(distance, kPi)));
  Value reflected = b.subtract(b.subtract(b.number(std::log(kPi)), logSine), logGamma);
  Value isPole = b.negate(b.compare(arith::CmpFPredicate::OLT, b.absolute(logSine), b.number(kInfinity)));
  reflected = b.choose(isPole, b.minus(logSine), reflected);
  Value result = b.choose(lanczos.isReflected, reflected, logGamma);
  return b.choose(b.isEqual(magnitude, b.number(kInfinity)), kInfinity, result);
}

Value buildDigamma(FloatMath& b, Value x) {
  Lanczos lanczos = prepareLanczos(b, x);
  Value sum = b.number(kLanczosBase), slope = b.number(0);
  for (auto [k, coefficient] : llvm::enumerate(kLanczosCoefficients)) {
    Value distance = b.add(lanczos.z, static_cast<double>(k + 1)), term = b.divide(b.number(coefficient), distance);
    sum = b.add(sum, term);
    slope = b.subtract(slope, b.divide(term, distance));
  }
  Value result = b.subtract(b.add(lanczos.logT, b.divide(slope, sum)), b.divide(b.number(kLanczos), lanczos.t));
  // digamma(1 - x) - digamma(x) = pi cot(pi x); the cotangent of the distance to the nearest integer keeps its digits.
  // Elsewhere any number has a derivative.
  Value distance = b.subtract(x, b.floor(b.add(x, 0.5)));
  Value angle = b.multiply(b.choose(lanczos.isReflected, distance, b.number(0.25)), kPi);
  Value cotangent = b.divide(b.create<math::CosOp>(angle), b.create<math::SinOp>(angle));
  result = b.choose(lanczos.isReflected, b.subtract(result, b.multiply(cotangent, kPi)), result);
  Value isPole = b.both(b.isAtMost(x, 0), b.isWhole(x));
  return b.choose(isPole, kNan, result);
}

/// sum of (q + n)^-x over n >= 0: the first terms, then the Euler-Maclaurin formula for the rest.
Value buildZeta(FloatMath& b, Value x, Value q) {
  constexpr int kTerms = 9;
  // (2k)! / B(2k), k = 1, 2, ...
  constexpr double kRest[] = {12.0,
                              -720.0,
                              30240.0,
                              -1209600.0,
                              47900160.0,
                              -1307674368000.0 / 691,
                              74724249600.0,
                              -10670622842880000.0 / 3617,
                              5109094217170944000.0 / 43867,
                              -802857662698291200000.0 / 174611,
                              14101100039391805440000.0 / 77683,
                              -1693824136731743669452800000.0 / 236364091};
  Value power = b.minus(x), sum = b.power(q, power), a = q;
  for (int term = 1; term < kTerms; ++term) {
    a = b.add(a, 1);
    sum = b.add(sum, b.power(a, power));
  }
  a = b.add(a, 1);
  Value last = b.power(a, power);
  sum = b.add(sum, b.multiply(last, b.add(b.divide(a, b.add(x, -1)), 0.5)));
  // Terms x (x + 1) ... a^(-x - 2k + 1) / kRest[k]; where a^-x is 0 already, so is the rest.
  Value factor = b.divide(b.multiply(x, last), a), squared = b.multiply(a, a), rest = b.number(0);
  for (auto [k, divisor] : llvm::enumerate(kRest)) {
    rest = b.add(rest, b.multiply(factor, 1 / divisor));
    Value next = b.multiply(b.add(x, 2.0 * k + 1), b.add(x, 2.0 * k + 2));
    factor = b.divide(b.multiply(factor, next), squared);
  }
  Value isSmall = b.isEqual(last, b.number(0));
  sum = b.choose(isSmall, sum, b.add(sum, rest));
  // Poles and what is not defined.
  Value isPole = b.both(b.isAtMost(q, 0), b.isWhole(q)), xIsWhole = b.isWhole(x);
  Value xIsEven = b.both(xIsWhole, b.isWhole(b.multiply(x, 0.5)));
  Value isUndefined = b.both(b.isLess(q, 0), b.negate(xIsWhole));
  sum = b.choose(isUndefined, kNan, sum);
  sum = b.choose(isPole, b.choose(xIsEven, b.number(kInfinity), b.number(kNan)), sum);
  sum = b.choose(b.isLess(x, 1), kNan, sum);
  return b.choose(b.isEqual(x, b.number(1)), kInfinity, sum);
}

/// Derivative n of digamma: (-1)^(n + 1) n! zeta(n + 1, x).
Value buildPolygamma(FloatMath& b, Value n, Value x) {
  Value next = b.add(n, 1);
  Value magnitude = b.multiply(b.create<math::ExpOp>(buildLogGamma(b, next)), buildZeta(b, next, x));
  Value isOdd = b.isWhole(b.multiply(next, 0.5));
  Value result = b.choose(isOdd, magnitude, b.minus(magnitude));
  result = b.choose(b.isEqual(n, b.number(0)), buildDigamma(b, x), result);
  Value isOrder = b.both(b.isWhole(n), b.negate(b.isLess(n, 0)));
  return b.choose(isOrder, result, b.number(kNan));
}

/// The sum of coefficient k times Chebyshev polynomial k of y / 2, highest first, the last one halved (Clenshaw).
Value evaluateChebyshev(FloatMath& b, Value y, ArrayRef<double> coefficients) {
  Value current = b.number(coefficients[0]), previous = b.number(0), older;
  for (double coefficient : coefficients.drop_front()) {
    older = previous;
    previous = current;
    current = b.add(b.subtract(b.multiply(y, previous), older), coefficient);
  }
  return b.multiply(b.subtract(current, older), 0.5);
}

/// exp(-|x|) times the modified Bessel function of order zero; the expansions are those of S. Moshier's Cephes library.
Value buildBesselI0e(FloatMath& b, Value x) {
  constexpr double kNear[] = {
      -4.41534164647933937950E-18, 3.33079451882223809783E-17, -2.43127984654795469359E-16, 1.71539128555513303061E-15,
      -1.16853328779934516808E-14, 7.67618549860493561688E-14, -4.85644678311192946090E-13, 2.95505266312963983461E-12,
      -1.72682629144155570723E-11, 9.67580903537323691224E-11, -5.18979560163526290666E-10, 2.65982372468238665035E-9,
      -1.30002500998624804212E-8,  6.04699502254191894932E-8,  -2.67079385394061173391E-7,  1.11738753912010371815E-6,
      -4.41673835845875056359E-6,  1.64484480707288970893E-5,  -5.75419501008210370398E-5,  1.88502885095841655729E-4,
      -5.76375574538582365885E-4,  1.63947561694133579842E-3,  -4.32430999505057594430E-3,  1.05464603945949983183E-2,
      -2.37374148058994688156E-2,  4.93052842396707084878E-2,  -9.49010970480476444210E-2,  1.71620901522208775349E-1,
      -3.04682672343198398683E-1,  6.76795274409476084995E-1};
  constexpr double kFar[] = {-7.23318048787475395456E-18, -4.83050448594418207126E-18, 4.46562142029675999901E-17,
                             3.46122286769746109310E-17,  -2.82762398051658348494E-16, -3.42548561967721913462E-16,
                             1.77256013305652638360E-15,  3.81168066935262242075E-15,  -9.55484669882830764870E-15,
                             -4.15056934728722208663E-14, 1.54008621752140982691E-14,  3.85277838274214270114E-13,
                             7.18012445138366623367E-13,  -1.79417853150680611778E-12, -1.32158118404477131188E-11,
                             -3.14991652796324136454E-11, 1.18891471078464383424E-11,  4.94060238822496958910E-10,
                             3.39623202570838634515E-9,   2.26666899049817806459E-8,   2.04891858946906374183E-7,
                             2.89137052083475648297E-6,   6.88975834691682398426E-5,   3.36911647825569408990E-3,
                             8.04490411014108831608E-1};
  Value magnitude = b.absolute(x);
  Value near = evaluateChebyshev(b, b.add(b.multiply(magnitude, 0.5), -2), kNear);
  Value far = evaluateChebyshev(b, b.add(b.divide(b.number(32), magnitude), -2), kFar);
  far = b.divide(far, b.create<math::SqrtOp>(magnitude));
  return b.choose(b.isAtMost(magnitude, 8), near, far);
}

/// exp(-|x|) times the modified Bessel function of order one; the expansions are those of S. Moshier's Cephes library.
Value buildBesselI1e(FloatMath& b, Value x) {
  constexpr double kNear[] = {
      2.77791411276104639959E-18, -2.11142121435816608115E-17, 1.55363195773620046921E-16, -1.10559694773538630805E-15,
      7.60068429473540693410E-15, -5.04218550472791168711E-14, 3.22379336594557470981E-13, -1.98397439776494371520E-12,
      1.17361862988909016308E-11, -6.66348972350202774223E-11, 3.62559028155211703701E-10, -1.88724975172282928790E-9,
      9.38153738649577178388E-9,  -4.44505912879632808065E-8,  2.00329475355213526229E-7,  -8.56872026469545474066E-7,
      3.47025130813767847674E-6,  -1.32731636560394358279E-5,  4.78156510755005422638E-5,  -1.61760815825896745588E-4,
      5.12285956168575772895E-4,  -1.51357245063125314899E-3,  4.15642294431288815669E-3,  -1.05640848946261981558E-2,
      2.47264490306265168283E-2,  -5.29459812080949914269E-2,  1.02643658689847095384E-1,  -1.76416518357834055153E-1,
      2.52587186443633654823E-1};
  constexpr double kFar[] = {7.51729631084210481353E-18,  4.41434832307170791151E-18,  -4.65030536848935832153E-17,
                             -3.20952592199342395980E-17, 2.96262899764595013876E-16,  3.30820231092092828324E-16,
                             -1.88035477551078244854E-15, -3.81440307243700780478E-15, 1.04202769841288027642E-14,
                             4.27244001671195135429E-14,  -2.10154184277266431302E-14, -4.08355111109219731823E-13,
                             -7.19855177624590851209E-13, 2.03562854414708950722E-12,  1.41258074366137813316E-11,
                             3.25260358301548823856E-11,  -1.89749581235054123450E-11, -5.58974346219658380687E-10,
                             -3.83538038596423702205E-9,  -2.63146884688951950684E-8,  -2.51223623787020892529E-7,
                             -3.88256480887769039346E-6,  -1.10588938762623716291E-4,  -9.76109749136146840777E-3,
                             7.78576235018280120474E-1};
  Value magnitude = b.absolute(x);
  Value near = b.multiply(evaluateChebyshev(b, b.add(b.multiply(magnitude, 0.5), -2), kNear), magnitude);
  Value far = evaluateChebyshev(b, b.add(b.divide(b.number(32), magnitude), -2), kFar);
  far = b.divide(far, b.create<math::SqrtOp>(magnitude));
  return b.create<math::CopySignOp>(b.choose(b.isAtMost(magnitude, 8), near, far), x);
}

/// t exp(P(t)) with t = 2 / (2 + z), a Chebyshev expansion of W. Press et al., "Numerical Recipes", 3rd edition, 6.2.2.
Value buildScaledErfc(FloatMath& b, Value x) {
  constexpr double kCoefficients[] = {-2.8e-17,
                                      1.21e-16,
                                      -9.4e-17,
                                      -1.523e-15,
                                      7.106e-15,
                                      3.81e-16,
                                      -1.12708e-13,
                                      3.13092e-13,
                                      8.94487e-13,
                                      -6.886027e-12,
                                      2.394038e-12,
                                      9.6467911e-11,
                                      -2.27365122e-10,
                                      -9.91364156e-10,
                                      5.059343495e-9,
                                      6.529054439e-9,
                                      -8.5238095915e-8,
                                      1.5626441722e-8,
                                      1.303655835580e-6,
                                      -1.624290004647e-6,
                                      -2.0278578112534e-5,
                                      4.2523324806907e-5,
                                      3.66839497852761e-4,
                                      -9.46595344482036e-4,
                                      -9.561514786808631e-3,
                                      1.9476473204185836e-2,
                                      6.4196979235649026e-1,
                                      -1.3026537197817094};
  Value isNegative = b.isLess(x, 0), z = b.choose(isNegative, b.minus(x), x);
  Value t = b.divide(b.number(2), b.add(z, 2));
  Value upper = b.multiply(t, b.exponential(evaluateChebyshev(b, b.add(b.multiply(t, 4), -2), kCoefficients)));
  Value safe = b.choose(isNegative, x, b.number(0));
  Value lower = b.subtract(b.multiply(b.exponential(b.multiply(safe, safe)), 2), upper);
  return b.choose(isNegative, lower, upper);
}

}  // namespace

Value mlir::sgd::writeLogGamma(TensorMath& math, Value x) {
  return writeWide(math, x, [](FloatMath& b, ArrayRef<Value> x) { return buildLogGamma(b, x[0]); });
}

Value mlir::sgd::writeDigamma(TensorMath& math, Value x) {
  return writeWide(math, x, [](FloatMath& b, ArrayRef<Value> x) { return buildDigamma(b, x[0]); });
}

Value mlir::sgd::writeZeta(TensorMath& math, Value x, Value q) {
  return writeWide(math, {x, q}, [](FloatMath& b, ArrayRef<Value> x) { return buildZeta(b, x[0], x[1]); });
}

Value mlir::sgd::writePolygamma(TensorMath& math, Value n, Value x) {
  return writeWide(math, {n, x}, [](FloatMath& b, ArrayRef<Value> x) { return buildPolygamma(b, x[0], x[1]); });
}

Value mlir::sgd::writeBesselI0e(TensorMath& math, Value x) {
  return writeWide(math, x, [](FloatMath& b, ArrayRef<Value> x) { return buildBesselI0e(b, x[0]); });
}

Value mlir::sgd::writeBesselI1e(TensorMath& math, Value x) {
  return writeWide(math, x, [](FloatMath& b, ArrayRef<Value> x) { return buildBesselI1e(b, x[0]); });
}

Value mlir::sgd::writeScaledErfc(TensorMath& math, Value x) {
  return writeWide(math, x, [](FloatMath& b, ArrayRef<Value> x) { return buildScaledErfc(b, x[0]); });
}
