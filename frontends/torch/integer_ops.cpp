// Divisions, remainders, powers and shifts.
#include "frontends/torch/aten_op.h"
#include "passes/graph/functions/integer_functions.h"

using namespace mlir;
using namespace mlir::sgd;
using namespace mlir::sgd::torch;

static bool isFloat(Value value) { return isa<FloatType>(tensorType(value).getElementType()); }

static Value writeZero(TensorMath& math, Value like) {
  RankedTensorType type = tensorType(like);
  return isFloat(like) ? math.splat(type, 0.0) : math.splat(type, int64_t{0});
}

static Value isNonzero(TensorMath& math, Value value) {
  return math.negate(math.isEqual(value, writeZero(math, value)));
}

/// Whether a remainder with the dividend's sign has not the divisor's.
static Value hasOtherSign(TensorMath& math, Value remainder, Value divisor) {
  Value zero = writeZero(math, remainder);
  Value differs = math.create<arith::XOrIOp>(math.isLess(remainder, zero), math.isLess(divisor, zero));
  return math.both(isNonzero(math, remainder), differs);
}

Value mlir::sgd::torch::writeFloorDivide(TensorMath& math, Value a, Value b) {
  Value quotient = math.create<DivSIOp>(a, b), remainder = math.create<RemSIOp>(a, b);
  Value lower = math.subtract(quotient, math.splat(tensorType(a), int64_t{1}));
  return math.select(hasOtherSign(math, remainder, b), lower, quotient);
}

Value mlir::sgd::torch::writeRemainder(TensorMath& math, Value a, Value b) {
  Value remainder = isFloat(a) ? math.create<arith::RemFOp>(a, b) : math.create<RemSIOp>(a, b);
  return math.select(hasOtherSign(math, remainder, b), math.add(remainder, b), remainder);
}

namespace {

/// As Python's divmod: exact where a / b rounds up to a whole number.
Value floorQuotient(AtenOp& op, Value a, Value b) {
  TensorMath& math = op.math;
  Value remainder = math.create<arith::RemFOp>(a, b), one = op.splat(1), zero = op.splat(0);
  Value quotient = math.divide(math.subtract(a, remainder), b);
  quotient = math.select(hasOtherSign(math, remainder, b), math.subtract(quotient, one), quotient);
  Value lower = math.create<math::FloorOp>(quotient);
  lower = math.select(math.isLess(op.splat(0.5), math.subtract(quotient, lower)), math.add(lower, one), lower);
  Value plain = math.divide(a, b), ofZero = math.create<math::CopySignOp>(zero, plain);
  return math.select(math.isEqual(b, zero), plain, math.select(math.isEqual(quotient, zero), ofZero, lower));
}

Value divideByMode(AtenOp& op, StringRef mode) {
  Value a = op.self(), b = op.operand("other", op.type());
  if (!isFloat(a)) return mode == "trunc" ? op.math.create<DivSIOp>(a, b) : writeFloorDivide(op.math, a, b);
  if (mode == "floor") return floorQuotient(op, a, b);
  Value quotient = op.math.divide(a, b);
  return mode == "trunc" ? op.math.create<math::TruncOp>(quotient) : quotient;
}

LogicalResult lowerDivide(AtenOp& op) { return op.finish(divideByMode(op, op.text("rounding_mode", ""))); }
LogicalResult lowerFloorDivide(AtenOp& op) { return op.finish(divideByMode(op, "floor")); }

LogicalResult lowerRemainder(AtenOp& op) {
  return op.finish(writeRemainder(op.math, op.self(), op.operand("other", op.type())));
}
LogicalResult lowerFmod(AtenOp& op) {
  Value a = op.self(), b = op.operand("other", op.type());
  return op.finish(isFloat(a) ? op.math.create<arith::RemFOp>(a, b) : op.math.create<RemSIOp>(a, b));
}

LogicalResult lowerPower(AtenOp& op) {
  Value x = op.self();
  bool isKnown = !op.tensor("exponent");
  if (!isFloat(x)) {
    Value exponent = op.operand("exponent", op.type());
    auto known =
        isKnown ? IntegerAttr::get(op.element(), static_cast<int64_t>(op.number("exponent", 0))) : IntegerAttr();
    return op.finish(writeIntegerPower(op.math, x, exponent, known, /*isUnsigned=*/false));
  }
  // Squares and roots are exact, and their derivatives need no logarithm.
  if (isKnown) {
    double exponent = op.number("exponent", 1);
    if (exponent == 0) return op.finish(op.splat(1));
    if (exponent == 1) return op.finish(x);
    if (exponent == 2) return op.finish(op.math.multiply(x, x));
    if (exponent == 3) return op.finish(op.math.multiply(op.math.multiply(x, x), x));
    if (exponent == 0.5) return op.finish(op.math.create<math::SqrtOp>(x));
    if (exponent == -0.5) return op.finish(op.math.inverseRoot(x));
    if (exponent == -1) return op.finish(op.math.divide(op.splat(1), x));
  }
  return op.finish(op.math.create<math::PowFOp>(x, op.operand("exponent", op.type())));
}

LogicalResult lowerGreatestDivisor(AtenOp& op) {
  if (isFloat(op.self())) return op.error() << "is of floats; expected integers; export the model anew";
  return op.finish(writeGreatestDivisor(op.math, op.self(), op.operand("other", op.type())));
}

/// |a / gcd * b|; 0 if both are.
LogicalResult lowerLeastMultiple(AtenOp& op) {
  TensorMath& math = op.math;
  Value a = op.self(), b = op.operand("other", op.type()), zero = op.splat(0);
  if (isFloat(a)) return op.error() << "is of floats; expected integers; export the model anew";
  Value divisor = writeGreatestDivisor(math, a, b), isZero = math.isEqual(divisor, zero);
  Value product = math.multiply(math.create<DivSIOp>(a, math.select(isZero, op.splat(1), divisor)), b);
  return op.finish(math.select(math.isLess(product, zero), math.subtract(zero, product), product));
}

/// Shifts of floats multiply by powers of two.
template <typename Shift, bool isLeft>
LogicalResult lowerShift(AtenOp& op) {
  Value x = op.self(), distance = op.operand("other", op.type());
  if (!isFloat(x)) return op.finish(op.math.create<Shift>(x, distance));
  Value factor = op.math.create<math::Exp2Op>(distance);
  return op.finish(isLeft ? op.math.multiply(x, factor) : op.math.divide(x, factor));
}

}  // namespace

void mlir::sgd::torch::addIntegerOps(OpTable& table) {
  enter(table,
        {"div.Tensor", "div.Scalar", "div.Tensor_mode", "div.Scalar_mode", "divide.Tensor", "divide.Scalar",
         "divide.Tensor_mode", "divide.Scalar_mode", "true_divide.Tensor", "true_divide.Scalar"},
        {lowerDivide, {}});
  enter(table, {"floor_divide.default", "floor_divide.Scalar"}, {lowerFloorDivide, {}});
  enter(table, {"gcd.default"}, {lowerGreatestDivisor, {"self", "other"}});
  enter(table, {"lcm.default"}, {lowerLeastMultiple, {"self", "other"}});
  enter(table, {"remainder.Tensor", "remainder.Scalar", "remainder.Scalar_Tensor"}, {lowerRemainder, {}});
  enter(table, {"fmod.Tensor", "fmod.Scalar"}, {lowerFmod, {}});
  enter(table,
        {"pow.Tensor_Scalar", "pow.Tensor_Tensor", "pow.Scalar", "float_power.Tensor_Scalar",
         "float_power.Tensor_Tensor", "float_power.Scalar"},
        {lowerPower, {}});
  enter(table,
        {"bitwise_left_shift.Tensor", "bitwise_left_shift.Tensor_Scalar", "bitwise_left_shift.Scalar_Tensor",
         "__lshift__.Tensor", "__lshift__.Scalar"},
        {lowerShift<ShLIOp, true>, {}});
  enter(table,
        {"bitwise_right_shift.Tensor", "bitwise_right_shift.Tensor_Scalar", "bitwise_right_shift.Scalar_Tensor",
         "__rshift__.Tensor", "__rshift__.Scalar"},
        {lowerShift<ShRSIOp, false>, {}});
}
