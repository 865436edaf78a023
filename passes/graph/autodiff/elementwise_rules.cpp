// Floats: x and y are operands, z is the result, g its gradient. Where two operands of a maximum are equal, each gets
// half, as in JAX and PyTorch.
#include <numbers>

#include "dialects/sgd/splat.h"
#include "passes/graph/autodiff/derivative_rule.h"

using namespace mlir;
using namespace mlir::sgd;

namespace {

/// Short forms for one op: constants have the type of the result.
struct Form {
  Form(Operation* op, Pullback& pullback)
      : math(pullback.math), x(op->getOperand(0)), z(op->getResult(0)), type(tensorType(z)) {}

  Value number(double value) { return math.splat(type, value); }
  Value scale(Value value, double factor) { return math.multiply(value, number(factor)); }
  Value square(Value value) { return math.multiply(value, value); }
  /// 1 + factor * square(value).
  Value onePlusSquare(Value value, double factor) {
    return math.add(number(1), factor == 1 ? square(value) : scale(square(value), factor));
  }
  Value isZero(Value value) { return math.isEqual(value, number(0)); }

  TensorMath& math;
  Value x, z;
  RankedTensorType type;
};

// Two operands
// -----------------------------------------------------------------------------------------------------------------

void pullAdd(arith::AddFOp op, Value g, Pullback& p) {
  p.add(op.getLhs(), g);
  p.add(op.getRhs(), g);
}

void pullSubtract(arith::SubFOp op, Value g, Pullback& p) {
  p.add(op.getLhs(), g);
  if (p.wants(op.getRhs())) p.add(op.getRhs(), p.math.minus(g));
}

void pullMultiply(arith::MulFOp op, Value g, Pullback& p) {
  if (p.wants(op.getLhs())) p.add(op.getLhs(), p.math.multiply(g, op.getRhs()));
  if (p.wants(op.getRhs())) p.add(op.getRhs(), p.math.multiply(g, op.getLhs()));
}

void pullDivide(arith::DivFOp op, Value g, Pullback& p) {
  Value quotient = p.math.divide(g, op.getRhs());
  p.add(op.getLhs(), quotient);
  if (p.wants(op.getRhs())) p.add(op.getRhs(), p.math.minus(p.math.multiply(quotient, op.getResult())));
}

/// z = x - y * trunc(x / y).
void pullRemainder(arith::RemFOp op, Value g, Pullback& p) {
  p.add(op.getLhs(), g);
  if (!p.wants(op.getRhs())) return;
  Value whole = p.math.create<math::TruncOp>(p.math.divide(op.getLhs(), op.getRhs()));
  p.add(op.getRhs(), p.math.minus(p.math.multiply(g, whole)));
}

/// Of the larger, or the smaller, of two.
template <typename Op, bool isMaximum>
void pullExtremum(Op op, Value g, Pullback& p) {
  Form f(op, p);
  Value half = f.scale(g, 0.5), zero = f.number(0), isEqual = f.math.isEqual(op.getLhs(), op.getRhs());
  auto pull = [&](Value own, Value other) {
    if (!p.wants(own)) return;
    Value wins = isMaximum ? f.math.isLess(other, own) : f.math.isLess(own, other);
    p.add(own, f.math.select(wins, g, f.math.select(isEqual, half, zero)));
  };
  pull(op.getLhs(), op.getRhs());
  pull(op.getRhs(), op.getLhs());
}

/// y x^(y - 1), and z log x. A power of 0 is 1, whatever x is; 0 to a power does not change with the power.
void pullPower(math::PowFOp op, Value g, Pullback& p) {
  Form f(op, p);
  Value x = op.getLhs(), y = op.getRhs(), zero = f.number(0);
  if (p.wants(x)) {
    Value lower = f.math.create<math::PowFOp>(x, f.math.subtract(y, f.number(1)));
    Value slope = f.math.select(f.isZero(y), zero, f.math.multiply(y, lower));
    p.add(x, f.math.multiply(g, slope));
  }
  if (p.wants(y)) {
    Value isZero = f.isZero(x);
    Value logarithm = f.math.create<math::LogOp>(f.math.select(isZero, f.number(1), x));
    p.add(y, f.math.multiply(g, f.math.multiply(op.getResult(), logarithm)));
  }
}

void pullAtan2(math::Atan2Op op, Value g, Pullback& p) {
  Form f(op, p);
  Value y = op.getLhs(), x = op.getRhs();
  Value quotient = f.math.divide(g, f.math.add(f.square(x), f.square(y)));
  if (p.wants(y)) p.add(y, f.math.multiply(quotient, x));
  if (p.wants(x)) p.add(x, f.math.minus(f.math.multiply(quotient, y)));
}

/// The sign's own operand is flat.
void pullCopySign(math::CopySignOp op, Value g, Pullback& p) {
  if (!p.wants(op.getLhs())) return;
  Form f(op, p);
  auto signOf = [&](Value value) { return f.math.create<math::CopySignOp>(f.number(1), value); };
  p.add(op.getLhs(), f.math.multiply(g, f.math.multiply(signOf(op.getLhs()), signOf(op.getRhs()))));
}

/// Whether two conditions are never true together: a value equals different constants.
bool exclude(Value one, Value other) {
  auto a = one.getDefiningOp<arith::CmpIOp>(), b = other.getDefiningOp<arith::CmpIOp>();
  if (!a || !b || a.getPredicate() != arith::CmpIPredicate::eq || b.getPredicate() != a.getPredicate()) return false;
  SplatElementsAttr left = getSplatElements(a.getRhs()), right = getSplatElements(b.getRhs());
  return left && right && a.getLhs() == b.getLhs() && left.getSplatValue<APInt>() != right.getSplatValue<APInt>();
}

/// `g` where `condition` holds: of a choice between several values by a number, the gradient of the choice itself.
Value skipExcluded(Value g, Value condition) {
  while (auto select = g.getDefiningOp<arith::SelectOp>()) {
    if (!isPositiveZero(select.getTrueValue()) || !exclude(select.getCondition(), condition)) break;
    g = select.getFalseValue();
  }
  return g;
}

void pullSelect(arith::SelectOp op, Value g, Pullback& p) {
  Value zero = p.getZeros(op.getResult());
  if (p.wants(op.getTrueValue()))
    p.add(op.getTrueValue(), p.math.select(op.getCondition(), skipExcluded(g, op.getCondition()), zero));
  if (p.wants(op.getFalseValue())) p.add(op.getFalseValue(), p.math.select(op.getCondition(), zero, g));
}

/// Between types of floats.
template <typename Op>
void pullConversion(Op op, Value g, Pullback& p) {
  p.add(op.getIn(), p.math.convert(g, tensorType(op.getIn()).getElementType()));
}

// One operand
// -----------------------------------------------------------------------------------------------------------------

/// The slope times g, or g divided by a divisor.
template <auto slope>
void pullBySlope(Operation* op, Value g, Pullback& p) {
  Form f(op, p);
  p.add(f.x, f.math.multiply(g, slope(f)));
}
template <auto divisor>
void pullByDivisor(Operation* op, Value g, Pullback& p) {
  Form f(op, p);
  p.add(f.x, f.math.divide(g, divisor(f)));
}

template <typename Op, auto slope>
void attachSlope(MLIRContext& context) {
  attachDerivative<Op, [](Op op, Value g, Pullback& p) { pullBySlope<slope>(op, g, p); }>(context);
}
template <typename Op, auto divisor>
void attachDivisor(MLIRContext& context) {
  attachDerivative<Op, [](Op op, Value g, Pullback& p) { pullByDivisor<divisor>(op, g, p); }>(context);
}

void pullNegate(arith::NegFOp op, Value g, Pullback& p) { p.add(op.getOperand(), p.math.minus(g)); }

/// Flat at 0.
Value slopeOfAbsolute(Form& f) {
  Value zero = f.number(0);
  Value whenNegative = f.math.select(f.math.isLess(f.x, zero), f.number(-1), zero);
  return f.math.select(f.math.isLess(zero, f.x), f.number(1), whenNegative);
}
Value slopeOfErf(Form& f) {
  return f.scale(f.math.exponential(f.math.minus(f.square(f.x))), 2 * std::numbers::inv_sqrtpi);
}
Value slopeOfErfc(Form& f) { return f.math.minus(slopeOfErf(f)); }
/// 1 / sqrt(1 - x^2), by factors: the difference of squares loses digits near 1.
Value slopeOfAsin(Form& f) {
  Value one = f.number(1);
  return f.math.inverseRoot(f.math.multiply(f.math.subtract(one, f.x), f.math.add(one, f.x)));
}
Value slopeOfAcos(Form& f) { return f.math.minus(slopeOfAsin(f)); }
Value slopeOfAcosh(Form& f) {
  Value one = f.number(1);
  return f.math.inverseRoot(f.math.multiply(f.math.subtract(f.x, one), f.math.add(f.x, one)));
}
Value divisorOfAtanh(Form& f) {
  Value one = f.number(1);
  return f.math.multiply(f.math.subtract(one, f.x), f.math.add(one, f.x));
}
/// -z / (2 x).
Value slopeOfInverseRoot(Form& f) { return f.scale(f.math.divide(f.z, f.x), -0.5); }

}  // namespace

void mlir::sgd::attachElementwiseDerivatives(MLIRContext& context) {
  using std::numbers::ln10;
  using std::numbers::ln2;
  attachDerivative<arith::AddFOp, pullAdd>(context);
  attachDerivative<arith::SubFOp, pullSubtract>(context);
  attachDerivative<arith::MulFOp, pullMultiply>(context);
  attachDerivative<arith::DivFOp, pullDivide>(context);
  attachDerivative<arith::RemFOp, pullRemainder>(context);
  attachDerivative<arith::MaximumFOp, pullExtremum<arith::MaximumFOp, true>>(context);
  attachDerivative<arith::MinimumFOp, pullExtremum<arith::MinimumFOp, false>>(context);
  attachDerivative<arith::MaxNumFOp, pullExtremum<arith::MaxNumFOp, true>>(context);
  attachDerivative<arith::MinNumFOp, pullExtremum<arith::MinNumFOp, false>>(context);
  attachDerivative<arith::NegFOp, pullNegate>(context);
  attachDerivative<arith::SelectOp, pullSelect>(context);
  attachDerivative<arith::ExtFOp, pullConversion<arith::ExtFOp>>(context);
  attachDerivative<arith::TruncFOp, pullConversion<arith::TruncFOp>>(context);
  attachDerivative<math::PowFOp, pullPower>(context);
  attachDerivative<math::Atan2Op, pullAtan2>(context);
  attachDerivative<math::CopySignOp, pullCopySign>(context);

  attachSlope<math::AbsFOp, slopeOfAbsolute>(context);
  attachSlope<math::ExpOp, [](Form& f) { return f.z; }>(context);
  attachSlope<math::Exp2Op, [](Form& f) { return f.scale(f.z, ln2); }>(context);
  attachSlope<math::ExpM1Op, [](Form& f) { return f.math.add(f.z, f.number(1)); }>(context);
  attachDivisor<math::LogOp, [](Form& f) { return f.x; }>(context);
  attachDivisor<math::Log2Op, [](Form& f) { return f.scale(f.x, ln2); }>(context);
  attachDivisor<math::Log10Op, [](Form& f) { return f.scale(f.x, ln10); }>(context);
  attachDivisor<math::Log1pOp, [](Form& f) { return f.math.add(f.x, f.number(1)); }>(context);
  attachDivisor<math::SqrtOp, [](Form& f) { return f.math.add(f.z, f.z); }>(context);
  attachSlope<math::RsqrtOp, slopeOfInverseRoot>(context);
  attachDivisor<math::CbrtOp, [](Form& f) { return f.scale(f.square(f.z), 3); }>(context);
  attachSlope<math::TanhOp, [](Form& f) { return f.onePlusSquare(f.z, -1); }>(context);
  attachSlope<math::ErfOp, slopeOfErf>(context);
  attachSlope<math::ErfcOp, slopeOfErfc>(context);
  attachSlope<math::SinOp, [](Form& f) { return f.math.create<math::CosOp>(f.x); }>(context);
  attachSlope<math::CosOp, [](Form& f) { return f.math.minus(f.math.create<math::SinOp>(f.x)); }>(context);
  attachSlope<math::TanOp, [](Form& f) { return f.onePlusSquare(f.z, 1); }>(context);
  attachSlope<math::SinhOp, [](Form& f) { return f.math.create<math::CoshOp>(f.x); }>(context);
  attachSlope<math::CoshOp, [](Form& f) { return f.math.create<math::SinhOp>(f.x); }>(context);
  attachSlope<math::AsinOp, slopeOfAsin>(context);
  attachSlope<math::AcosOp, slopeOfAcos>(context);
  attachDivisor<math::AtanOp, [](Form& f) { return f.onePlusSquare(f.x, 1); }>(context);
  attachSlope<math::AsinhOp, [](Form& f) { return f.math.inverseRoot(f.onePlusSquare(f.x, 1)); }>(context);
  attachSlope<math::AcoshOp, slopeOfAcosh>(context);
  attachDivisor<math::AtanhOp, divisorOfAtanh>(context);
}
