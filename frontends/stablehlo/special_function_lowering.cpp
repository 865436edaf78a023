// Special functions that the graph level has no op for, from the ops that it has.
#include "frontends/stablehlo/op_lowering.h"

using namespace mlir;
using namespace mlir::sgd;

namespace {

/// coefficients[0] x^n + ... + coefficients[n].
Value evaluatePolynomial(OpLowering& l, Value x, ArrayRef<double> coefficients) {
  auto type = cast<RankedTensorType>(x.getType());
  Value sum = l.splat(type, coefficients.front());
  for (double coefficient : coefficients.drop_front())
    sum = l.create<arith::AddFOp>(l.create<arith::MulFOp>(sum, x), l.splat(type, coefficient));
  return sum;
}

/// To about 1e-7 in relative terms: M. Giles, "Approximating the erfinv function", single precision.
Value approximateErfInv(OpLowering& l, Value x) {
  auto type = cast<RankedTensorType>(x.getType());
  // Not log1p(-x * x): 1 - x is exact where x is near 1, and near 0 it is the absolute error of w that counts.
  Value one = l.splat(type, 1.0);
  Value product = l.create<arith::MulFOp>(l.create<arith::SubFOp>(one, x), l.create<arith::AddFOp>(one, x));
  Value w = l.create<arith::NegFOp>(l.create<math::LogOp>(product));
  Value central = evaluatePolynomial(l, l.create<arith::SubFOp>(w, l.splat(type, 2.5)),
                                     {2.81022636e-08, 3.43273939e-07, -3.5233877e-06, -4.39150654e-06, 0.00021858087,
                                      -0.00125372503, -0.00417768164, 0.246640727, 1.50140941});
  Value tail = evaluatePolynomial(l, l.create<arith::SubFOp>(l.create<math::SqrtOp>(w), l.splat(type, 3.0)),
                                  {-0.000200214257, 0.000100950558, 0.00134934322, -0.00367342844, 0.00573950773,
                                   -0.0076224613, 0.00943887047, 1.00167406, 2.83297682});
  Value isCentral = l.create<arith::CmpFOp>(arith::CmpFPredicate::OLT, w, l.splat(type, 5.0));
  return l.create<arith::MulFOp>(l.create<arith::SelectOp>(isCentral, central, tail), x);
}

/// One step of Halley's method towards erf(y) = x for f64, on magnitudes: near 1 through erfc, which keeps the digits
/// that 1 - erf loses.
Value refineErfInv(OpLowering& l, Value y, Value x) {
  auto type = cast<RankedTensorType>(y.getType());
  Value one = l.splat(type, 1.0);
  Value inCentre = l.create<arith::SubFOp>(l.create<math::ErfOp>(y), x);
  Value inTail = l.create<arith::SubFOp>(l.create<arith::SubFOp>(one, x), l.create<math::ErfcOp>(y));
  Value isCentral = l.create<arith::CmpFOp>(arith::CmpFPredicate::OLT, x, l.splat(type, 0.5));
  Value error = l.create<arith::SelectOp>(isCentral, inCentre, inTail);
  constexpr double kTwoOverRootPi = 1.1283791670955126;
  Value exponential = l.create<math::ExpOp>(l.create<arith::NegFOp>(l.create<arith::MulFOp>(y, y)));
  Value slope = l.create<arith::MulFOp>(l.splat(type, kTwoOverRootPi), exponential);
  Value step = l.create<arith::DivFOp>(error, slope);
  Value bend = l.create<arith::AddFOp>(one, l.create<arith::MulFOp>(y, step));
  return l.create<arith::SubFOp>(y, l.create<arith::DivFOp>(step, bend));
}

LogicalResult lowerErfInv(OpLowering& l) {
  RankedTensorType type = l.getResultType();
  auto element = dyn_cast<FloatType>(type.getElementType());
  if (!element) return l.unsupportedType();
  RankedTensorType wide = type.clone(l.builder.getF32Type());
  Value x = l.operands[0];
  bool isNarrow = element.getWidth() < 32;
  if (isNarrow) x = l.create<arith::ExtFOp>(wide, x);
  auto computed = cast<RankedTensorType>(x.getType());
  Value result;
  if (element.isF64()) {
    Value magnitude = l.create<math::AbsFOp>(x);
    Value y = approximateErfInv(l, magnitude);
    for (int step = 0; step < 2; ++step) y = refineErfInv(l, y, magnitude);
    result = l.create<math::CopySignOp>(y, x);
  } else {
    result = approximateErfInv(l, x);
  }
  // At -1 and 1 the logarithm is infinite, and the polynomials are not.
  Value isEnd = l.create<arith::CmpFOp>(arith::CmpFPredicate::OEQ, l.create<math::AbsFOp>(x), l.splat(computed, 1.0));
  Value infinity = l.create<math::CopySignOp>(l.splat(computed, std::numeric_limits<double>::infinity()), x);
  result = l.create<arith::SelectOp>(isEnd, infinity, result);
  return isNarrow ? l.replace<arith::TruncFOp>(type, result) : l.finish(result);
}

/// The neighbour of x towards y: one more or less in the integer that has its bits.
LogicalResult lowerNextAfter(OpLowering& l) {
  RankedTensorType type = l.getResultType();
  if (!isa<FloatType>(type.getElementType())) return l.unsupportedType();
  unsigned width = type.getElementTypeBitWidth();
  RankedTensorType bitsType = type.clone(l.builder.getIntegerType(width));
  Value x = l.operands[0], y = l.operands[1], zero = l.splat(type, 0.0);
  auto compareTo = [&](arith::CmpFPredicate predicate, Value a, Value b) {
    return l.create<arith::CmpFOp>(predicate, a, b);
  };
  Value bits = l.create<arith::BitcastOp>(bitsType, x), one = l.splat(bitsType, APInt(width, 1));
  // Magnitudes grow with the bits whatever the sign.
  Value isUp = compareTo(arith::CmpFPredicate::OLT, x, y), isNegative = compareTo(arith::CmpFPredicate::OLT, x, zero);
  Value grows = l.create<arith::XOrIOp>(isUp, isNegative);
  Value next = l.create<arith::SelectOp>(grows, l.create<arith::AddIOp>(bits, one), l.create<arith::SubIOp>(bits, one));
  Value stepped = l.create<arith::BitcastOp>(type, next);
  Value least = l.create<math::CopySignOp>(l.create<arith::BitcastOp>(type, one), y);
  Value result = l.create<arith::SelectOp>(compareTo(arith::CmpFPredicate::OEQ, x, zero), least, stepped);
  result = l.create<arith::SelectOp>(compareTo(arith::CmpFPredicate::OEQ, x, y), y, result);
  Value isNan = compareTo(arith::CmpFPredicate::UNO, x, y);
  return l.replace<arith::SelectOp>(isNan, l.create<arith::AddFOp>(x, y), result);
}

}  // namespace

void mlir::sgd::addSpecialFunctionLowerings(LoweringTable& table) {
  table["chlo.erf_inv"] = lowerErfInv;
  table["chlo.next_after"] = lowerNextAfter;
}
