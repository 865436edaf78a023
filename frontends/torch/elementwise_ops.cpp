// Ops on each element. Operands are converted to the type that PyTorch computes in.
#include <numbers>

#include "dialects/sgd/no_gradient.h"
#include "frontends/torch/aten_op.h"
#include "passes/graph/functions/special_functions.h"

using namespace mlir;
using namespace mlir::sgd;
using namespace mlir::sgd::torch;

namespace {

/// `self` in the result's type.
Value self(AtenOp& op) { return op.operand("self", op.type()); }

template <typename Op>
LogicalResult unary(AtenOp& op) {
  return op.finish(op.math.create<Op>(self(op)));
}

template <auto write>
LogicalResult function(AtenOp& op) {
  return op.finish(write(op.math, self(op)));
}

/// One op for floats, one for integers.
template <typename Float, typename Integer>
Value create(AtenOp& op, Value a, Value b) {
  return isa<FloatType>(tensorType(a).getElementType()) ? op.math.create<Float>(a, b) : op.math.create<Integer>(a, b);
}

template <typename Float, typename Integer>
LogicalResult binary(AtenOp& op) {
  return op.finish(create<Float, Integer>(op, self(op), op.operand("other", op.type())));
}

/// self + alpha * other, or minus.
template <bool isSum>
LogicalResult lowerSum(AtenOp& op) {
  Value a = self(op), b = op.operand("other", op.type());
  if (op.has("alpha") && op.number("alpha", 1) != 1)
    b = create<arith::MulFOp, arith::MulIOp>(op, b, op.constant(op.type(), op.number("alpha", 1)));
  if (op.element().isInteger(1)) return op.finish(op.math.create<arith::OrIOp>(a, b));
  return op.finish(isSum ? op.math.add(a, b) : op.math.subtract(a, b));
}

LogicalResult lowerReverseSubtract(AtenOp& op) {
  Value b = self(op);
  if (op.number("alpha", 1) != 1)
    b = create<arith::MulFOp, arith::MulIOp>(op, b, op.constant(op.type(), op.number("alpha", 1)));
  return op.finish(op.math.subtract(op.operand("other", op.type()), b));
}

LogicalResult lowerDivide(AtenOp& op) {
  Value a = self(op), b = op.operand("other", op.type());
  StringRef mode = op.text("rounding_mode", "");
  if (!isa<FloatType>(op.element())) {
    if (mode != "trunc")
      return op.error() << "rounds a quotient of integers down, which is not supported; divide floats, or use "
                           "rounding_mode='trunc'";
    return op.finish(op.math.create<DivSIOp>(a, b));
  }
  Value quotient = op.math.divide(a, b);
  if (mode == "floor") quotient = op.math.create<math::FloorOp>(quotient);
  if (mode == "trunc") quotient = op.math.create<math::TruncOp>(quotient);
  return op.finish(quotient);
}

LogicalResult lowerPower(AtenOp& op) {
  if (!isa<FloatType>(op.element()))
    return op.error() << "takes a power of integers, which is not supported; convert to floats";
  // Squares and roots are exact, and their derivatives need no logarithm.
  if (!op.tensor("exponent") && op.tensor("self")) {
    double exponent = op.number("exponent", 1);
    Value x = self(op);
    if (exponent == 0) return op.finish(op.splat(1));
    if (exponent == 1) return op.finish(x);
    if (exponent == 2) return op.finish(op.math.multiply(x, x));
    if (exponent == 3) return op.finish(op.math.multiply(op.math.multiply(x, x), x));
    if (exponent == 0.5) return op.finish(op.math.create<math::SqrtOp>(x));
    if (exponent == -0.5) return op.finish(op.math.inverseRoot(x));
    if (exponent == -1) return op.finish(op.math.divide(op.splat(1), x));
  }
  return op.finish(op.math.create<math::PowFOp>(self(op), op.operand("exponent", op.type())));
}

template <arith::CmpFPredicate ofFloats, arith::CmpIPredicate ofIntegers>
LogicalResult compare(AtenOp& op) {
  RankedTensorType type = op.promote({"self", "other"}, op.type().getShape());
  Value a = op.operand("self", type), b = op.operand("other", type);
  if (isa<FloatType>(type.getElementType())) return op.finish(op.math.create<arith::CmpFOp>(ofFloats, a, b));
  return op.finish(op.math.create<arith::CmpIOp>(ofIntegers, a, b));
}

template <typename Op>
LogicalResult logical(AtenOp& op) {
  return op.finish(op.math.create<Op>(self(op), op.operand("other", op.type())));
}

LogicalResult lowerNot(AtenOp& op) {
  Value x = self(op);
  APInt ones = APInt::getAllOnes(op.type().getElementTypeBitWidth());
  return op.finish(
      op.math.create<arith::XOrIOp>(x, op.math.create<arith::ConstantOp>(DenseElementsAttr::get(op.type(), ones))));
}

LogicalResult lowerNegate(AtenOp& op) {
  Value x = self(op);
  return op.finish(isa<FloatType>(op.element()) ? op.math.minus(x) : op.math.subtract(op.splat(0), x));
}

LogicalResult lowerAbs(AtenOp& op) {
  return isa<FloatType>(op.element()) ? unary<math::AbsFOp>(op) : unary<math::AbsIOp>(op);
}

LogicalResult lowerSign(AtenOp& op) {
  Value x = self(op), zero = op.splat(0);
  Value negative = op.math.select(op.math.isLess(x, zero), op.splat(-1), zero);
  return op.finish(op.math.select(op.math.isLess(zero, x), op.splat(1), negative));
}

Value clampTo(AtenOp& op, Value x, std::optional<double> least, std::optional<double> most) {
  if (least) {
    Value bound = op.constant(tensorType(x), *least);
    x = op.math.select(op.math.isLess(x, bound), bound, x);
  }
  if (most) {
    Value bound = op.constant(tensorType(x), *most);
    x = op.math.select(op.math.isLess(bound, x), bound, x);
  }
  return x;
}

LogicalResult lowerClamp(AtenOp& op) {
  auto bound = [&](StringRef name) { return op.has(name) ? std::optional(op.number(name, 0)) : std::nullopt; };
  return op.finish(clampTo(op, self(op), bound("min"), bound("max")));
}

LogicalResult lowerHardtanh(AtenOp& op) {
  return op.finish(clampTo(op, self(op), op.number("min_val", -1), op.number("max_val", 1)));
}

LogicalResult lowerRelu(AtenOp& op) { return op.finish(writeRelu(op.math, self(op))); }
LogicalResult lowerRelu6(AtenOp& op) { return op.finish(clampTo(op, self(op), 0, 6)); }

LogicalResult lowerLeakyRelu(AtenOp& op) {
  Value x = self(op), scaled = op.math.multiply(x, op.splat(op.number("negative_slope", 0.01)));
  return op.finish(op.math.select(op.math.isLess(op.splat(0), x), x, scaled));
}

LogicalResult lowerElu(AtenOp& op) {
  Value x = self(op), zero = op.splat(0), isPositive = op.math.isLess(zero, x);
  Value below = op.math.create<math::ExpM1Op>(
      op.math.select(isPositive, zero, op.math.multiply(x, op.splat(op.number("input_scale", 1)))));
  below = op.math.multiply(below, op.splat(op.number("alpha", 1)));
  return op.finish(op.math.multiply(op.math.select(isPositive, x, below), op.splat(op.number("scale", 1))));
}

LogicalResult lowerSigmoid(AtenOp& op) { return op.finish(writeSigmoid(op.math, self(op))); }
LogicalResult lowerSilu(AtenOp& op) {
  Value x = self(op);
  return op.finish(op.math.multiply(x, writeSigmoid(op.math, x)));
}

/// clamp(x / 6 + 1/2, 0, 1).
Value hardSigmoid(AtenOp& op, Value x) {
  return clampTo(op, op.math.add(op.math.multiply(x, op.splat(1.0 / 6)), op.splat(0.5)), 0, 1);
}
LogicalResult lowerHardSigmoid(AtenOp& op) { return op.finish(hardSigmoid(op, self(op))); }
LogicalResult lowerHardSwish(AtenOp& op) {
  Value x = self(op);
  return op.finish(op.math.multiply(x, hardSigmoid(op, x)));
}

/// log(1 + e^(beta x)) / beta, x itself where that is as good.
Value softplus(AtenOp& op, Value x, double beta, double threshold) {
  Value scaled = beta == 1 ? x : op.math.multiply(x, op.splat(beta)), bound = op.splat(threshold);
  Value isLinear = op.math.isLess(bound, scaled);
  Value inner = op.math.create<math::Log1pOp>(op.math.exponential(op.math.select(isLinear, op.splat(0), scaled)));
  return op.math.select(isLinear, x, beta == 1 ? inner : op.math.multiply(inner, op.splat(1 / beta)));
}
LogicalResult lowerSoftplus(AtenOp& op) {
  return op.finish(softplus(op, self(op), op.number("beta", 1), op.number("threshold", 20)));
}
LogicalResult lowerMish(AtenOp& op) {
  Value x = self(op);
  return op.finish(op.math.multiply(x, op.math.create<math::TanhOp>(softplus(op, x, 1, 20))));
}

/// -log(1 + e^-x), without overflow.
LogicalResult lowerLogSigmoid(AtenOp& op) {
  Value x = self(op), zero = op.splat(0);
  Value least = op.math.select(op.math.isLess(x, zero), x, zero);
  Value tail = op.math.create<math::Log1pOp>(op.math.exponential(op.math.minus(op.math.absolute(x))));
  return op.finish(op.math.subtract(least, tail));
}

LogicalResult lowerGelu(AtenOp& op) {
  Value x = self(op), half = op.math.multiply(x, op.splat(0.5));
  if (op.text("approximate", "none") == "tanh") {
    Value cube = op.math.multiply(op.math.multiply(x, x), x);
    Value inner = op.math.add(x, op.math.multiply(cube, op.splat(0.044715)));
    Value tanh =
        op.math.create<math::TanhOp>(op.math.multiply(inner, op.splat(std::numbers::sqrt2 * std::numbers::inv_sqrtpi)));
    return op.finish(op.math.multiply(half, op.math.add(tanh, op.splat(1))));
  }
  Value erf = op.math.create<math::ErfOp>(op.math.multiply(x, op.splat(1 / std::numbers::sqrt2)));
  return op.finish(op.math.multiply(half, op.math.add(erf, op.splat(1))));
}

LogicalResult lowerWhere(AtenOp& op) {
  Value condition = op.operand("condition", op.type().clone(op.math.getBuilder().getI1Type()));
  return op.finish(op.math.select(condition, self(op), op.operand("other", op.type())));
}

LogicalResult lowerMaskedFill(AtenOp& op) {
  Value mask = op.operand("mask", op.type().clone(op.math.getBuilder().getI1Type()));
  return op.finish(op.math.select(mask, op.operand("value", op.type()), self(op)));
}

/// self + value * tensor1 * tensor2, or / tensor2.
template <bool isProduct>
LogicalResult lowerAddcmul(AtenOp& op) {
  Value a = op.operand("tensor1", op.type()), b = op.operand("tensor2", op.type());
  Value term = isProduct ? op.math.multiply(a, b) : op.math.divide(a, b);
  if (op.number("value", 1) != 1) term = op.math.multiply(term, op.splat(op.number("value", 1)));
  return op.finish(op.math.add(self(op), term));
}

/// self + weight * (end - self).
LogicalResult lowerLerp(AtenOp& op) {
  Value a = self(op), step = op.math.subtract(op.operand("end", op.type()), a);
  return op.finish(op.math.add(a, op.math.multiply(op.operand("weight", op.type()), step)));
}

LogicalResult lowerSame(AtenOp& op) { return op.finish(self(op)); }
/// A reshape to the same shape, which stops the gradient and folds away.
LogicalResult lowerDetach(AtenOp& op) {
  Value value = op.math.create<ReshapeOp>(op.type(), self(op));
  value.getDefiningOp()->setAttr(kNoGradientAttr, op.math.getBuilder().getUnitAttr());
  return op.finish(value);
}
LogicalResult lowerIsNan(AtenOp& op) {
  Value x = op.tensor("self");
  return op.finish(op.math.create<arith::CmpFOp>(arith::CmpFPredicate::UNO, x, x));
}
LogicalResult lowerReciprocal(AtenOp& op) { return op.finish(op.math.divide(op.splat(1), self(op))); }
LogicalResult lowerSquare(AtenOp& op) {
  Value x = self(op);
  return op.finish(op.math.multiply(x, x));
}

LogicalResult lowerCopy(AtenOp& op) { return op.finish(op.operand("src", op.type())); }
LogicalResult lowerZero(AtenOp& op) { return op.finish(op.splat(0)); }
LogicalResult lowerOne(AtenOp& op) { return op.finish(op.splat(1)); }
LogicalResult lowerFill(AtenOp& op) { return op.finish(op.operand("value", op.type())); }
LogicalResult lowerFull(AtenOp& op) { return op.finish(op.constant(op.type(), op.number("fill_value", 0))); }

}  // namespace

void mlir::sgd::torch::addElementwiseOps(OpTable& table) {
  auto add = [&](std::initializer_list<StringRef> names, const OpEntry& entry) {
    for (StringRef name : names) table[name] = entry;
  };
  using FP = arith::CmpFPredicate;
  using IP = arith::CmpIPredicate;
  add({"add.Tensor", "add.Scalar", "add_.Tensor", "add_.Scalar"}, lowerSum<true>);
  add({"sub.Tensor", "sub.Scalar", "sub_.Tensor", "sub_.Scalar"}, lowerSum<false>);
  add({"rsub.Tensor", "rsub.Scalar"}, lowerReverseSubtract);
  add({"mul.Tensor", "mul.Scalar", "mul_.Tensor", "mul_.Scalar"}, binary<arith::MulFOp, arith::MulIOp>);
  add({"div.Tensor", "div.Scalar", "div_.Tensor", "div_.Scalar", "div.Tensor_mode", "div.Scalar_mode",
       "true_divide.Tensor"},
      lowerDivide);
  add({"maximum.default"}, binary<arith::MaximumFOp, arith::MaxSIOp>);
  add({"minimum.default"}, binary<arith::MinimumFOp, arith::MinSIOp>);
  add({"pow.Tensor_Scalar", "pow.Tensor_Tensor", "pow_.Scalar"}, {lowerPower, {}});
  add({"eq.Tensor", "eq.Scalar"}, compare<FP::OEQ, IP::eq>);
  add({"ne.Tensor", "ne.Scalar"}, compare<FP::UNE, IP::ne>);
  add({"lt.Tensor", "lt.Scalar"}, compare<FP::OLT, IP::slt>);
  add({"le.Tensor", "le.Scalar"}, compare<FP::OLE, IP::sle>);
  add({"gt.Tensor", "gt.Scalar"}, compare<FP::OGT, IP::sgt>);
  add({"ge.Tensor", "ge.Scalar"}, compare<FP::OGE, IP::sge>);
  add({"logical_and.default", "bitwise_and.Tensor", "bitwise_and.Scalar", "__and__.Tensor"}, logical<arith::AndIOp>);
  add({"logical_or.default", "bitwise_or.Tensor", "bitwise_or.Scalar", "__or__.Tensor"}, logical<arith::OrIOp>);
  add({"logical_xor.default", "bitwise_xor.Tensor"}, logical<arith::XOrIOp>);
  add({"logical_not.default", "bitwise_not.default"}, lowerNot);
  add({"neg.default"}, lowerNegate);
  add({"abs.default"}, lowerAbs);
  add({"sign.default"}, lowerSign);
  add({"exp.default"}, unary<math::ExpOp>);
  add({"exp2.default"}, unary<math::Exp2Op>);
  add({"expm1.default"}, unary<math::ExpM1Op>);
  add({"log.default"}, unary<math::LogOp>);
  add({"log2.default"}, unary<math::Log2Op>);
  add({"log10.default"}, unary<math::Log10Op>);
  add({"log1p.default"}, unary<math::Log1pOp>);
  add({"sqrt.default"}, unary<math::SqrtOp>);
  add({"rsqrt.default"}, unary<math::RsqrtOp>);
  add({"sin.default"}, unary<math::SinOp>);
  add({"cos.default"}, unary<math::CosOp>);
  add({"tan.default"}, unary<math::TanOp>);
  add({"asin.default"}, unary<math::AsinOp>);
  add({"acos.default"}, unary<math::AcosOp>);
  add({"atan.default"}, unary<math::AtanOp>);
  add({"sinh.default"}, unary<math::SinhOp>);
  add({"cosh.default"}, unary<math::CoshOp>);
  add({"tanh.default", "tanh_.default"}, unary<math::TanhOp>);
  add({"asinh.default"}, unary<math::AsinhOp>);
  add({"acosh.default"}, unary<math::AcoshOp>);
  add({"atanh.default"}, unary<math::AtanhOp>);
  add({"erf.default"}, unary<math::ErfOp>);
  add({"erfc.default"}, unary<math::ErfcOp>);
  add({"erfinv.default"}, function<writeErfInv>);
  add({"lgamma.default"}, function<writeLogGamma>);
  add({"digamma.default"}, function<writeDigamma>);
  add({"floor.default"}, unary<math::FloorOp>);
  add({"ceil.default"}, unary<math::CeilOp>);
  add({"trunc.default"}, unary<math::TruncOp>);
  add({"round.default"}, unary<math::RoundEvenOp>);
  add({"reciprocal.default"}, lowerReciprocal);
  add({"square.default"}, lowerSquare);
  add({"sigmoid.default", "sigmoid_.default"}, lowerSigmoid);
  add({"silu.default", "silu_.default"}, lowerSilu);
  add({"relu.default", "relu_.default"}, lowerRelu);
  add({"relu6.default", "relu6_.default"}, lowerRelu6);
  add({"leaky_relu.default", "leaky_relu_.default"}, lowerLeakyRelu);
  add({"elu.default", "elu_.default"}, lowerElu);
  add({"gelu.default"}, lowerGelu);
  add({"hardtanh.default", "hardtanh_.default"}, lowerHardtanh);
  add({"hardsigmoid.default", "hardsigmoid_.default"}, lowerHardSigmoid);
  add({"hardswish.default", "hardswish_.default"}, lowerHardSwish);
  add({"softplus.default"}, lowerSoftplus);
  add({"mish.default", "mish_.default"}, lowerMish);
  add({"log_sigmoid.default"}, lowerLogSigmoid);
  add({"clamp.default", "clamp_.default", "clamp_min.default", "clamp_max.default"}, lowerClamp);
  add({"where.self", "where.ScalarOther", "where.ScalarSelf"}, {lowerWhere, {"condition"}});
  add({"masked_fill.Scalar", "masked_fill.Tensor", "masked_fill_.Scalar", "masked_fill_.Tensor"},
      {lowerMaskedFill, {"self", "mask"}});
  add({"addcmul.default", "addcmul_.default"}, {lowerAddcmul<true>, {"self", "tensor1", "tensor2"}});
  add({"addcdiv.default", "addcdiv_.default"}, {lowerAddcmul<false>, {"self", "tensor1", "tensor2"}});
  add({"lerp.Scalar", "lerp.Tensor"}, {lowerLerp, {"self", "end"}});
  add({"isnan.default"}, lowerIsNan);
  add({"_to_copy.default", "to.dtype", "to.device", "to.dtype_layout", "to.other", "type_as.default", "clone.default",
       "contiguous.default", "alias.default", "lift_fresh_copy.default"},
      lowerSame);
  add({"detach.default", "detach_.default"}, lowerDetach);
  add({"copy_.default", "copy.default"}, {lowerCopy, {"self", "src"}});
  add({"zeros.default", "zeros_like.default", "zero_.default", "new_zeros.default"}, {lowerZero, {}});
  add({"ones.default", "ones_like.default", "new_ones.default"}, {lowerOne, {}});
  add({"full.default", "full_like.default", "new_full.default"}, {lowerFull, {}});
  add({"fill.Scalar", "fill_.Scalar", "fill.Tensor", "fill_.Tensor"}, lowerFill);
}
