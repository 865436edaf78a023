// Functions of one or two numbers: roots, exponentials, angles, roundings, error and Bessel functions.
#include <cmath>
#include <numbers>

#include "frontends/torch/aten_op.h"
#include "passes/graph/functions/special_functions.h"

using namespace mlir;
using namespace mlir::sgd;
using namespace mlir::sgd::torch;

static constexpr double kInfinity = std::numeric_limits<double>::infinity();

Value mlir::sgd::torch::writeLogAddExp(TensorMath& math, Value a, Value b) {
  RankedTensorType type = tensorType(a);
  Value isLess = math.isLess(a, b), larger = math.select(isLess, b, a), smaller = math.select(isLess, a, b);
  Value areInfinite = math.both(math.isEqual(a, b), math.isEqual(math.absolute(a), math.splat(type, kInfinity)));
  Value distance = math.select(areInfinite, math.splat(type, 0.0), math.subtract(smaller, larger));
  Value tail = math.create<math::Log1pOp>(math.exponential(distance));
  return math.select(areInfinite, a, math.add(larger, tail));
}

namespace {

Value isNan(TensorMath& math, Value x) { return math.create<arith::CmpFOp>(arith::CmpFPredicate::UNO, x, x); }

template <typename Op>
LogicalResult unary(AtenOp& op) {
  return op.finish(op.math.create<Op>(op.self()));
}

template <auto write>
LogicalResult function(AtenOp& op) {
  return op.finish(write(op.math, op.self()));
}

/// Of `self` and `other`.
template <auto write>
LogicalResult function2(AtenOp& op) {
  return op.finish(write(op.math, op.self(), op.operand("other", op.type())));
}

/// Integers are whole already.
template <typename Op>
LogicalResult rounding(AtenOp& op) {
  Value x = op.self();
  return op.finish(isa<FloatType>(op.element()) ? op.math.create<Op>(x) : x);
}

/// At so many digits behind the point.
LogicalResult lowerRoundDecimals(AtenOp& op) {
  double factor = std::pow(10.0, std::abs(static_cast<double>(op.integer("decimals", 0))));
  if (!isa<FloatType>(op.element())) return op.finish(op.self());
  Value x = op.self(), scale = op.splat(factor);
  bool isFine = op.integer("decimals", 0) > 0;
  Value scaled = op.math.create<math::RoundEvenOp>(isFine ? op.math.multiply(x, scale) : op.math.divide(x, scale));
  return op.finish(isFine ? op.math.divide(scaled, scale) : op.math.multiply(scaled, scale));
}

/// A polynomial's terms, of a number.
Value scale(TensorMath& math, Value x, double factor) { return math.multiply(x, math.splat(tensorType(x), factor)); }

Value writeFraction(TensorMath& math, Value x) { return math.subtract(x, math.create<math::TruncOp>(x)); }
Value writeDegrees(TensorMath& math, Value x) { return scale(math, x, 180 / std::numbers::pi); }
Value writeRadians(TensorMath& math, Value x) { return scale(math, x, std::numbers::pi / 180); }

/// sin(pi x) / (pi x), and 1 at 0.
Value writeSinc(TensorMath& math, Value x) {
  Value one = math.splat(tensorType(x), 1.0), isZero = math.isEqual(x, math.splat(tensorType(x), 0.0));
  Value angle = scale(math, math.select(isZero, one, x), std::numbers::pi);
  return math.select(isZero, one, math.divide(math.create<math::SinOp>(angle), angle));
}

Value writeBesselI0(TensorMath& math, Value x) {
  return math.multiply(writeBesselI0e(math, x), math.exponential(math.absolute(x)));
}
Value writeBesselI1(TensorMath& math, Value x) {
  return math.multiply(writeBesselI1e(math, x), math.exponential(math.absolute(x)));
}

/// The distribution function of the standard normal distribution, its inverse, and its logarithm.
Value writeNormalDistribution(TensorMath& math, Value x) {
  Value erf = math.create<math::ErfOp>(scale(math, x, std::numbers::sqrt2 / 2));
  return scale(math, math.add(erf, math.splat(tensorType(x), 1.0)), 0.5);
}
Value writeNormalQuantile(TensorMath& math, Value p) {
  Value centred = math.subtract(scale(math, p, 2), math.splat(tensorType(p), 1.0));
  return scale(math, writeErfInv(math, centred), std::numbers::sqrt2);
}

/// From a scaled erfc where the distribution function vanishes.
Value writeLogNormalDistribution(TensorMath& math, Value x) {
  RankedTensorType type = tensorType(x);
  Value minusOne = math.splat(type, -1.0), isFar = math.isLess(x, minusOne),
        root = scale(math, x, 1 / std::numbers::sqrt2);
  Value end = math.splat(type, -1 / std::numbers::sqrt2);
  Value far = math.select(isFar, root, end), near = math.select(isFar, end, root);
  Value tail = math.create<math::LogOp>(scale(math, writeScaledErfc(math, math.minus(far)), 0.5));
  tail = math.subtract(tail, math.multiply(far, far));
  return math.select(isFar, tail, math.create<math::Log1pOp>(scale(math, math.create<math::ErfcOp>(near), -0.5)));
}

/// -x log x, 0 at 0 and -inf below.
Value writeEntropy(TensorMath& math, Value x) {
  RankedTensorType type = tensorType(x);
  Value zero = math.splat(type, 0.0), isPositive = math.isLess(zero, x);
  Value safe = math.select(isPositive, x, math.splat(type, 1.0));
  Value rest = math.select(math.isEqual(x, zero), zero, math.splat(type, -kInfinity));
  rest = math.select(isNan(math, x), x, rest);
  return math.select(isPositive, math.minus(math.multiply(x, math.create<math::LogOp>(safe))), rest);
}

/// x log y, or x log(1 + y): 0 where x is, unless y is NaN.
template <typename Log>
Value writeTimesLog(TensorMath& math, Value x, Value y) {
  Value zero = math.splat(tensorType(x), 0.0);
  Value isZero = math.both(math.isEqual(x, zero), math.negate(isNan(math, y)));
  Value safe = math.select(isZero, math.splat(tensorType(x), 1.0), y);
  return math.select(isZero, zero, math.multiply(x, math.create<Log>(safe)));
}

Value writeLogAddExp2(TensorMath& math, Value a, Value b) {
  return scale(math, writeLogAddExp(math, scale(math, a, std::numbers::ln2), scale(math, b, std::numbers::ln2)),
               1 / std::numbers::ln2);
}

/// sqrt(a^2 + b^2), without overflow.
Value writeHypot(TensorMath& math, Value a, Value b) {
  RankedTensorType type = tensorType(a);
  Value x = math.absolute(a), y = math.absolute(b), isLess = math.isLess(x, y);
  Value larger = math.select(isLess, y, x), smaller = math.select(isLess, x, y), zero = math.splat(type, 0.0);
  Value isPlain = math.both(math.isLess(zero, larger), math.isLess(larger, math.splat(type, kInfinity)));
  Value ratio = math.divide(smaller, math.select(isPlain, larger, math.splat(type, 1.0)));
  Value root = math.create<math::SqrtOp>(math.add(math.multiply(ratio, ratio), math.splat(type, 1.0)));
  // Infinite if one is, whatever the other is.
  Value infinity = math.splat(type, kInfinity);
  Value isInfinite = math.create<arith::OrIOp>(math.isEqual(x, infinity), math.isEqual(y, infinity));
  Value rest = math.select(isInfinite, infinity, math.add(x, y));
  return math.select(isPlain, math.multiply(larger, root), rest);
}

Value writeCopySign(TensorMath& math, Value a, Value b) { return math.create<math::CopySignOp>(a, b); }
Value writeLdexp(TensorMath& math, Value a, Value b) { return math.multiply(a, math.create<math::Exp2Op>(b)); }

/// 0 below 0, 1 above, `values` at 0.
LogicalResult lowerHeaviside(AtenOp& op) {
  Value x = op.self(), zero = op.splat(0), one = op.splat(1);
  Value result = op.math.select(op.math.isLess(zero, x), one, zero);
  result = op.math.select(op.math.isEqual(x, zero), op.operand("values", op.type()), result);
  bool isFloat = isa<FloatType>(op.element());
  return op.finish(isFloat ? op.math.select(isNan(op.math, x), x, result) : result);
}

Value askIsFinite(TensorMath& math, Value x) {
  return math.isLess(math.absolute(x), math.splat(tensorType(x), kInfinity));
}

/// A fraction of magnitude [1/2, 1) and a power of 2, whose product is x.
LogicalResult lowerFrexp(AtenOp& op) {
  Value x = op.self();
  RankedTensorType type = tensorType(x);
  auto element = dyn_cast<FloatType>(op.element());
  if (!element) return op.error() << "has a fraction that is no float; export the model anew";
  TensorMath& math = op.math;
  unsigned width = element.getWidth(), digits = APFloat::semanticsPrecision(element.getFloatSemantics()) - 1;
  int64_t bias = 1 - APFloat::semanticsMinExponent(element.getFloatSemantics());
  RankedTensorType bits = type.clone(math.getBuilder().getIntegerType(width));
  auto number = [&](int64_t value) { return math.splat(bits, value); };
  auto makePower = [&](Value exponent) {
    Value raised = math.create<ShLIOp>(math.add(exponent, number(bias)), number(digits));
    return math.create<arith::BitcastOp>(type, raised);
  };
  // Of numbers below the normal ones, those that a factor makes normal are read.
  Value isTiny = math.isLess(math.absolute(x), math.splat(type, std::ldexp(1.0, static_cast<int>(1 - bias))));
  Value lift = math.select(isTiny, number(digits + 1), number(0)), lifted = math.multiply(x, makePower(lift));
  Value field = math.create<ShRUIOp>(math.create<arith::BitcastOp>(bits, lifted), number(digits));
  field = math.create<arith::AndIOp>(field, number(2 * bias + 1));
  Value exponent = math.subtract(math.subtract(field, number(bias - 1)), lift);
  Value isPlain = math.both(askIsFinite(math, x), math.negate(math.isEqual(x, math.splat(type, 0.0))));
  exponent = math.select(isPlain, exponent, number(0));
  // In three factors, each of which has a power that is a normal number.
  Value third = math.create<DivSIOp>(exponent, number(3)), last = math.subtract(exponent, math.add(third, third));
  Value fraction = x;
  for (Value part : {third, third, last}) fraction = math.multiply(fraction, makePower(math.subtract(number(0), part)));
  (void)op.finish(math.select(isPlain, fraction, x), 0);
  return op.getNumOutputs() < 2 ? success() : op.finish(op.convert(exponent, op.element(1)), 1);
}

LogicalResult lowerNanToNum(AtenOp& op) {
  Value x = op.self();
  auto element = dyn_cast<FloatType>(op.element());
  if (!element) return op.finish(x);
  double largest = APFloat::getLargest(element.getFloatSemantics()).convertToDouble();
  Value result = op.math.select(isNan(op.math, x), op.splat(op.number("nan", 0)), x);
  Value isHigh = op.math.isEqual(x, op.splat(kInfinity)), isLow = op.math.isEqual(x, op.splat(-kInfinity));
  result = op.math.select(isHigh, op.splat(op.number("posinf", largest)), result);
  return op.finish(op.math.select(isLow, op.splat(op.number("neginf", -largest)), result));
}

// Questions
// -----------------------------------------------------------------------------------------------------------------

Value askIsReal(TensorMath& math, Value x) {
  return math.splat(tensorType(x).clone(math.getBuilder().getI1Type()), int64_t{1});
}
Value askIsNan(TensorMath& math, Value x) { return isNan(math, x); }
Value askIsInfinite(TensorMath& math, Value x) {
  return math.isEqual(math.absolute(x), math.splat(tensorType(x), kInfinity));
}
template <bool isPositive>
Value askIsEnd(TensorMath& math, Value x) {
  return math.isEqual(x, math.splat(tensorType(x), isPositive ? kInfinity : -kInfinity));
}

/// Of integers and booleans the answer is known.
template <auto ask, bool ofIntegers>
LogicalResult question(AtenOp& op) {
  Value x = op.tensor("self");
  if (isa<FloatType>(tensorType(x).getElementType())) return op.finish(ask(op.math, x));
  return op.finish(op.splat(ofIntegers ? 1 : 0));
}

/// Of -0 too.
LogicalResult lowerSignBit(AtenOp& op) {
  Value x = op.tensor("self");
  RankedTensorType type = tensorType(x);
  if (type.getElementType().isInteger(1)) return op.finish(op.splat(0));
  if (!isa<FloatType>(type.getElementType())) return op.finish(op.math.isLess(x, op.constant(type, 0)));
  Value side = op.math.create<math::CopySignOp>(op.math.splat(type, 1.0), x);
  return op.finish(op.math.isLess(side, op.math.splat(type, 0.0)));
}

LogicalResult lowerIsClose(AtenOp& op) {
  RankedTensorType type = op.promote({"self", "other"}, op.type().getShape());
  Value a = op.operand("self", type), b = op.operand("other", type), isSame = op.math.isEqual(a, b);
  if (!isa<FloatType>(type.getElementType())) {
    type = type.clone(op.math.getBuilder().getF64Type());
    a = op.convert(a, type.getElementType());
    b = op.convert(b, type.getElementType());
  }
  Value allowed = op.math.add(op.math.splat(type, op.number("atol", 1e-8)),
                              scale(op.math, op.math.absolute(b), op.number("rtol", 1e-5)));
  Value distance = op.math.absolute(op.math.subtract(a, b));
  Value isNear = op.math.both(askIsFinite(op.math, distance), op.math.isAtLeast(allowed, distance));
  Value result = op.math.create<arith::OrIOp>(isSame, isNear);
  if (op.flag("equal_nan", false))
    result = op.math.create<arith::OrIOp>(result, op.math.both(isNan(op.math, a), isNan(op.math, b)));
  return op.finish(result);
}

}  // namespace

void mlir::sgd::torch::addSpecialOps(OpTable& table) {
  enter(table, {"exp.default"}, unary<math::ExpOp>);
  enter(table, {"exp2.default", "special_exp2.default"}, unary<math::Exp2Op>);
  enter(table, {"expm1.default", "special_expm1.default"}, unary<math::ExpM1Op>);
  enter(table, {"log.default"}, unary<math::LogOp>);
  enter(table, {"log2.default"}, unary<math::Log2Op>);
  enter(table, {"log10.default"}, unary<math::Log10Op>);
  enter(table, {"log1p.default", "special_log1p.default"}, unary<math::Log1pOp>);
  enter(table, {"sqrt.default"}, unary<math::SqrtOp>);
  enter(table, {"rsqrt.default"}, unary<math::RsqrtOp>);
  enter(table, {"sin.default"}, unary<math::SinOp>);
  enter(table, {"cos.default"}, unary<math::CosOp>);
  enter(table, {"tan.default"}, unary<math::TanOp>);
  enter(table, {"asin.default", "arcsin.default"}, unary<math::AsinOp>);
  enter(table, {"acos.default", "arccos.default"}, unary<math::AcosOp>);
  enter(table, {"atan.default", "arctan.default"}, unary<math::AtanOp>);
  enter(table, {"sinh.default"}, unary<math::SinhOp>);
  enter(table, {"cosh.default"}, unary<math::CoshOp>);
  enter(table, {"tanh.default"}, unary<math::TanhOp>);
  enter(table, {"asinh.default", "arcsinh.default"}, unary<math::AsinhOp>);
  enter(table, {"acosh.default", "arccosh.default"}, unary<math::AcoshOp>);
  enter(table, {"atanh.default", "arctanh.default"}, unary<math::AtanhOp>);
  enter(table, {"erf.default", "special_erf.default"}, unary<math::ErfOp>);
  enter(table, {"erfc.default", "special_erfc.default"}, unary<math::ErfcOp>);
  enter(table, {"erfinv.default", "special_erfinv.default"}, function<writeErfInv>);
  enter(table, {"i0.default", "special_i0.default"}, function<writeBesselI0>);
  enter(table, {"special_i0e.default"}, function<writeBesselI0e>);
  enter(table, {"special_i1.default"}, function<writeBesselI1>);
  enter(table, {"special_i1e.default"}, function<writeBesselI1e>);
  enter(table, {"special_ndtr.default"}, function<writeNormalDistribution>);
  enter(table, {"special_log_ndtr.default"}, function<writeLogNormalDistribution>);
  enter(table, {"special_erfcx.default"}, function<writeScaledErfc>);
  enter(table, {"frexp.Tensor"}, lowerFrexp);
  enter(table, {"special_ndtri.default"}, function<writeNormalQuantile>);
  enter(table, {"special_entr.default"}, function<writeEntropy>);
  enter(table, {"sinc.default", "special_sinc.default"}, function<writeSinc>);
  enter(table, {"frac.default"}, function<writeFraction>);
  enter(table, {"rad2deg.default"}, function<writeDegrees>);
  enter(table, {"deg2rad.default"}, function<writeRadians>);
  enter(table, {"floor.default"}, rounding<math::FloorOp>);
  enter(table, {"ceil.default"}, rounding<math::CeilOp>);
  enter(table, {"trunc.default", "fix.default"}, rounding<math::TruncOp>);
  enter(table, {"round.default"}, rounding<math::RoundEvenOp>);
  enter(table, {"round.decimals", "special_round.default"}, lowerRoundDecimals);
  enter(table, {"atan2.default", "arctan2.default"}, function2<writeAtan2>);
  enter(table, {"copysign.Tensor", "copysign.Scalar"}, function2<writeCopySign>);
  enter(table, {"hypot.default"}, function2<writeHypot>);
  enter(table, {"ldexp.Tensor"}, function2<writeLdexp>);
  enter(table, {"logaddexp.default"}, function2<mlir::sgd::torch::writeLogAddExp>);
  enter(table, {"logaddexp2.default"}, function2<writeLogAddExp2>);
  enter(table, {"nextafter.default"}, function2<writeNextAfter>);
  enter(table,
        {"xlogy.Tensor", "xlogy.Scalar_Other", "xlogy.Scalar_Self", "special_xlogy.default",
         "special_xlogy.other_scalar", "special_xlogy.self_scalar"},
        {function2<writeTimesLog<math::LogOp>>, {}});
  enter(table, {"special_xlog1py.default", "special_xlog1py.other_scalar", "special_xlog1py.self_scalar"},
        {function2<writeTimesLog<math::Log1pOp>>, {}});
  enter(table, {"heaviside.default"}, {lowerHeaviside, {"self", "values"}});
  enter(table, {"nan_to_num.default"}, lowerNanToNum);
  enter(table, {"isnan.default"}, question<askIsNan, false>);
  enter(table, {"isfinite.default"}, question<askIsFinite, true>);
  enter(table, {"isreal.default"}, question<askIsReal, true>);
  enter(table, {"isinf.default"}, question<askIsInfinite, false>);
  enter(table, {"isposinf.default"}, question<askIsEnd<true>, false>);
  enter(table, {"isneginf.default"}, question<askIsEnd<false>, false>);
  enter(table, {"signbit.default"}, lowerSignBit);
  enter(table, {"isclose.default"}, {lowerIsClose, {"self", "other"}});
}
