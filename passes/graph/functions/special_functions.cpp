// The inverse of erf, angles, and neighbours of floats.
#include "passes/graph/functions/special_functions.h"

#include <numbers>

using namespace mlir;
using namespace mlir::sgd;

namespace {

/// coefficients[0] x^n + ... + coefficients[n].
Value evaluatePolynomial(TensorMath& math, Value x, ArrayRef<double> coefficients) {
  RankedTensorType type = tensorType(x);
  Value sum = math.splat(type, coefficients.front());
  for (double coefficient : coefficients.drop_front())
    sum = math.add(math.multiply(sum, x), math.splat(type, coefficient));
  return sum;
}

/// To about 1e-7 in relative terms: M. Giles, "Approximating the erfinv function", single precision.
Value approximateErfInv(TensorMath& math, Value x) {
  RankedTensorType type = tensorType(x);
  // Not log1p(-x * x): 1 - x is exact where x is near 1, and near 0 it is the absolute error of w that counts.
  Value one = math.splat(type, 1.0);
  Value product = math.multiply(math.subtract(one, x), math.add(one, x));
  Value w = math.minus(math.create<math::LogOp>(product));
  Value central = evaluatePolynomial(math, math.subtract(w, math.splat(type, 2.5)),
                                     {2.81022636e-08, 3.43273939e-07, -3.5233877e-06, -4.39150654e-06, 0.00021858087,
                                      -0.00125372503, -0.00417768164, 0.246640727, 1.50140941});
  Value tail = evaluatePolynomial(math, math.subtract(math.create<math::SqrtOp>(w), math.splat(type, 3.0)),
                                  {-0.000200214257, 0.000100950558, 0.00134934322, -0.00367342844, 0.00573950773,
                                   -0.0076224613, 0.00943887047, 1.00167406, 2.83297682});
  Value isCentral = math.isLess(w, math.splat(type, 5.0));
  return math.multiply(math.select(isCentral, central, tail), x);
}

/// One step of Halley's method towards erf(y) = x for f64, on magnitudes: near 1 through erfc, which keeps the digits
/// that 1 - erf loses.
Value refineErfInv(TensorMath& math, Value y, Value x) {
  RankedTensorType type = tensorType(y);
  Value one = math.splat(type, 1.0);
  Value inCentre = math.subtract(math.create<math::ErfOp>(y), x);
  Value inTail = math.subtract(math.subtract(one, x), math.create<math::ErfcOp>(y));
  Value isCentral = math.isLess(x, math.splat(type, 0.5));
  Value error = math.select(isCentral, inCentre, inTail);
  constexpr double kTwoOverRootPi = 1.1283791670955126;
  Value exponential = math.exponential(math.minus(math.multiply(y, y)));
  Value slope = math.multiply(math.splat(type, kTwoOverRootPi), exponential);
  Value step = math.divide(error, slope);
  Value bend = math.add(one, math.multiply(y, step));
  return math.subtract(y, math.divide(step, bend));
}

}  // namespace

Value mlir::sgd::writeErfInv(TensorMath& math, Value argument) {
  Type own = tensorType(argument).getElementType();
  bool isNarrow = own.getIntOrFloatBitWidth() < 32;
  Value x = math.convert(argument, isNarrow ? math.getBuilder().getF32Type() : own);
  RankedTensorType type = tensorType(x);
  Value result;
  if (own.isF64()) {
    Value magnitude = math.absolute(x);
    Value y = approximateErfInv(math, magnitude);
    for (int step = 0; step < 2; ++step) y = refineErfInv(math, y, magnitude);
    result = math.create<math::CopySignOp>(y, x);
  } else {
    result = approximateErfInv(math, x);
  }
  // At -1 and 1 the logarithm is infinite, and the polynomials are not.
  Value isEnd = math.isEqual(math.absolute(x), math.splat(type, 1.0));
  Value infinity = math.create<math::CopySignOp>(math.splat(type, std::numeric_limits<double>::infinity()), x);
  return math.convert(math.select(isEnd, infinity, result), own);
}

Value mlir::sgd::writeNextAfter(TensorMath& math, Value x, Value y) {
  RankedTensorType type = tensorType(x);
  unsigned width = type.getElementTypeBitWidth();
  RankedTensorType bitsType = type.clone(math.getBuilder().getIntegerType(width));
  Value zero = math.splat(type, 0.0);
  Value bits = math.create<arith::BitcastOp>(bitsType, x), one = math.splat(bitsType, int64_t{1});
  // Magnitudes grow with the bits whatever the sign.
  Value isUp = math.isLess(x, y), isNegative = math.isLess(x, zero);
  Value grows = math.create<arith::XOrIOp>(isUp, isNegative);
  Value next = math.select(grows, math.add(bits, one), math.subtract(bits, one));
  Value stepped = math.create<arith::BitcastOp>(type, next);
  Value least = math.create<math::CopySignOp>(math.create<arith::BitcastOp>(type, one), y);
  Value result = math.select(math.isEqual(x, zero), least, stepped);
  result = math.select(math.isEqual(x, y), y, result);
  Value isNan = math.create<arith::CmpFOp>(arith::CmpFPredicate::UNO, x, y);
  return math.select(isNan, math.add(x, y), result);
}

/// MLIR folds it of two zeros to NaN.
Value mlir::sgd::writeAtan2(TensorMath& math, Value y, Value x) {
  RankedTensorType type = tensorType(x);
  Value zero = math.splat(type, 0.0), areZero = math.both(math.isEqual(x, zero), math.isEqual(y, zero));
  Value side = math.create<math::CopySignOp>(math.splat(type, 1.0), x);
  Value ofZeros = math.select(math.isLess(side, zero), math.splat(type, std::numbers::pi), zero);
  ofZeros = math.create<math::CopySignOp>(ofZeros, y);
  return math.select(areZero, ofZeros, math.create<math::Atan2Op>(y, x));
}

Value mlir::sgd::writeSoftplus(TensorMath& math, Value x) {
  Value zero = math.splat(tensorType(x), 0.0), isPositive = math.isLess(zero, x);
  Value tail = math.create<math::Log1pOp>(math.exponential(math.select(isPositive, math.minus(x), x)));
  return math.add(math.select(isPositive, x, zero), tail);
}
