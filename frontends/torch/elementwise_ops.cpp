// Arithmetic, comparisons, choices and copies. Operands are converted to the type that PyTorch computes in.
#include "dialects/sgd/no_gradient.h"
#include "frontends/torch/aten_op.h"

using namespace mlir;
using namespace mlir::sgd;
using namespace mlir::sgd::torch;

namespace {

/// One op for floats, one for integers.
template <typename Float, typename Integer>
Value createPerType(AtenOp& op, Value a, Value b) {
  return isa<FloatType>(tensorType(a).getElementType()) ? op.math.create<Float>(a, b) : op.math.create<Integer>(a, b);
}

/// Booleans have an own op: as integers of one bit, true would be -1.
template <typename Float, typename Integer, typename Boolean>
LogicalResult lowerExtremumOf(AtenOp& op) {
  Value a = op.self(), b = op.operand("other", op.type());
  if (op.element().isInteger(1)) return op.finish(op.math.create<Boolean>(a, b));
  return op.finish(createPerType<Float, Integer>(op, a, b));
}

template <typename Float, typename Integer>
LogicalResult binary(AtenOp& op) {
  return op.finish(createPerType<Float, Integer>(op, op.self(), op.operand("other", op.type())));
}

/// self + alpha * other, or minus.
template <bool isSum>
LogicalResult lowerSum(AtenOp& op) {
  Value a = op.self(), b = op.operand("other", op.type());
  if (op.has("alpha") && op.number("alpha", 1) != 1)
    b = createPerType<arith::MulFOp, arith::MulIOp>(op, b, op.constant(op.type(), op.number("alpha", 1)));
  if (op.element().isInteger(1)) return op.finish(op.math.create<arith::OrIOp>(a, b));
  return op.finish(isSum ? op.math.add(a, b) : op.math.subtract(a, b));
}

LogicalResult lowerReverseSubtract(AtenOp& op) {
  Value b = op.self();
  if (op.number("alpha", 1) != 1)
    b = createPerType<arith::MulFOp, arith::MulIOp>(op, b, op.constant(op.type(), op.number("alpha", 1)));
  return op.finish(op.math.subtract(op.operand("other", op.type()), b));
}

template <arith::CmpFPredicate ofFloats, arith::CmpIPredicate ofIntegers>
LogicalResult compare(AtenOp& op) {
  RankedTensorType type = op.promote({"self", "other"}, op.type().getShape());
  if (type.getElementType().isInteger(1)) type = type.clone(op.math.getBuilder().getI8Type());
  Value a = op.operand("self", type), b = op.operand("other", type);
  Value result = isa<FloatType>(type.getElementType()) ? op.math.create<arith::CmpFOp>(ofFloats, a, b)
                                                       : op.math.create<arith::CmpIOp>(ofIntegers, a, b);
  return op.finish(op.convert(result, op.element()));
}

template <typename Op>
LogicalResult bitwise(AtenOp& op) {
  return op.finish(op.math.create<Op>(op.self(), op.operand("other", op.type())));
}

/// Of booleans, whatever the operands are.
template <typename Op>
LogicalResult logical(AtenOp& op) {
  RankedTensorType type = op.type().clone(op.math.getBuilder().getI1Type());
  return op.finish(op.convert(op.math.create<Op>(op.operand("self", type), op.operand("other", type)), op.element()));
}
LogicalResult lowerLogicalNot(AtenOp& op) {
  RankedTensorType type = op.type().clone(op.math.getBuilder().getI1Type());
  return op.finish(op.convert(op.math.negate(op.operand("self", type)), op.element()));
}

LogicalResult lowerNot(AtenOp& op) {
  Value x = op.self();
  APInt ones = APInt::getAllOnes(op.type().getElementTypeBitWidth());
  return op.finish(
      op.math.create<arith::XOrIOp>(x, op.math.create<arith::ConstantOp>(DenseElementsAttr::get(op.type(), ones))));
}

LogicalResult lowerNegate(AtenOp& op) {
  Value x = op.self();
  return op.finish(isa<FloatType>(op.element()) ? op.math.minus(x) : op.math.subtract(op.splat(0), x));
}

/// The absolute value, of floats without the sign of zero.
LogicalResult lowerAbs(AtenOp& op) {
  if (isa<FloatType>(op.element())) return op.finish(op.math.absolute(op.self()));
  return op.finish(op.element().isInteger(1) ? op.self() : op.math.create<math::AbsIOp>(op.self()));
}

LogicalResult lowerSign(AtenOp& op) {
  Value x = op.self(), zero = op.splat(0);
  if (op.element().isInteger(1)) return op.finish(x);
  Value negative = op.math.select(op.math.isLess(x, zero), op.splat(-1), zero);
  return op.finish(op.math.select(op.math.isLess(zero, x), op.splat(1), negative));
}

/// By numbers, or by tensors, which share the gradient at a bound.
LogicalResult lowerClamp(AtenOp& op) {
  Value x = op.self();
  for (auto [name, isLeast] : {std::pair("min", true), std::pair("max", false)}) {
    if (!op.has(name)) continue;
    Value bound = op.operand(name, op.type());
    if (op.tensor(name))
      x = isLeast ? op.math.maximum(x, bound) : op.math.minimum(x, bound);
    else
      x = writeClamp(op.math, x, isLeast ? bound : Value(), isLeast ? Value() : bound);
  }
  return op.finish(x);
}

LogicalResult lowerWhere(AtenOp& op) {
  Value condition = op.operand("condition", op.type().clone(op.math.getBuilder().getI1Type()));
  return op.finish(op.math.select(condition, op.self(), op.operand("other", op.type())));
}

LogicalResult lowerMaskedFill(AtenOp& op) {
  Value mask = op.operand("mask", op.type().clone(op.math.getBuilder().getI1Type()));
  return op.finish(op.math.select(mask, op.operand("value", op.type()), op.self()));
}

/// self + value * tensor1 * tensor2, or / tensor2.
template <bool isProduct>
LogicalResult lowerAddcmul(AtenOp& op) {
  Value a = op.operand("tensor1", op.type()), b = op.operand("tensor2", op.type());
  if (op.number("value", 1) != 1) a = op.math.multiply(a, op.operand("value", op.type()));
  return op.finish(op.math.add(op.self(), isProduct ? op.math.multiply(a, b) : op.math.divide(a, b)));
}

/// self + weight * (end - self), from the nearer end.
LogicalResult lowerLerp(AtenOp& op) {
  Value a = op.self(), end = op.operand("end", op.type()), weight = op.operand("weight", op.type());
  Value step = op.math.subtract(end, a), rest = op.math.subtract(op.splat(1), weight);
  Value isNear = op.math.isLess(op.math.absolute(weight), op.splat(0.5));
  return op.finish(op.math.select(isNear, op.math.add(a, op.math.multiply(weight, step)),
                                  op.math.subtract(end, op.math.multiply(rest, step))));
}

LogicalResult lowerSame(AtenOp& op) { return op.finish(op.self()); }
/// A reshape to the same shape, which stops the gradient and folds away.
LogicalResult lowerDetach(AtenOp& op) {
  return op.finish(stopGradient(op.math.create<ReshapeOp>(op.type(), op.self())));
}
LogicalResult lowerReciprocal(AtenOp& op) { return op.finish(op.math.divide(op.splat(1), op.self())); }
LogicalResult lowerSquare(AtenOp& op) {
  Value x = op.self();
  return op.finish(op.math.multiply(x, x));
}

LogicalResult lowerCopy(AtenOp& op) { return op.finish(op.operand("src", op.type())); }
LogicalResult lowerFill(AtenOp& op) { return op.finish(op.operand("value", op.type())); }
}  // namespace

void mlir::sgd::torch::addElementwiseOps(OpTable& table) {
  using FP = arith::CmpFPredicate;
  using IP = arith::CmpIPredicate;
  // Decomposed programs have numbers on the left, too.
  enter(table, {"add.Tensor", "add.Scalar"}, {lowerSum<true>, {}});
  enter(table, {"sub.Tensor", "sub.Scalar", "subtract.Tensor", "subtract.Scalar"}, {lowerSum<false>, {}});
  enter(table, {"rsub.Tensor", "rsub.Scalar"}, lowerReverseSubtract);
  enter(table, {"mul.Tensor", "mul.Scalar", "multiply.Tensor", "multiply.Scalar"},
        {binary<arith::MulFOp, arith::MulIOp>, {}});
  enter(table, {"maximum.default", "max.other"},
        {lowerExtremumOf<arith::MaximumFOp, arith::MaxSIOp, arith::OrIOp>, {}});
  enter(table, {"minimum.default", "min.other"},
        {lowerExtremumOf<arith::MinimumFOp, arith::MinSIOp, arith::AndIOp>, {}});
  enter(table, {"fmax.default"}, {lowerExtremumOf<arith::MaxNumFOp, arith::MaxSIOp, arith::OrIOp>, {}});
  enter(table, {"fmin.default"}, {lowerExtremumOf<arith::MinNumFOp, arith::MinSIOp, arith::AndIOp>, {}});
  enter(table, {"eq.Tensor", "eq.Scalar"}, {compare<FP::OEQ, IP::eq>, {}});
  enter(table, {"ne.Tensor", "ne.Scalar", "not_equal.Tensor", "not_equal.Scalar"}, {compare<FP::UNE, IP::ne>, {}});
  enter(table, {"lt.Tensor", "lt.Scalar", "less.Tensor", "less.Scalar"}, {compare<FP::OLT, IP::slt>, {}});
  enter(table, {"le.Tensor", "le.Scalar", "less_equal.Tensor", "less_equal.Scalar"}, {compare<FP::OLE, IP::sle>, {}});
  enter(table, {"gt.Tensor", "gt.Scalar", "greater.Tensor", "greater.Scalar"}, {compare<FP::OGT, IP::sgt>, {}});
  enter(table, {"ge.Tensor", "ge.Scalar", "greater_equal.Tensor", "greater_equal.Scalar"},
        {compare<FP::OGE, IP::sge>, {}});
  enter(table,
        {"bitwise_and.Tensor", "bitwise_and.Scalar", "bitwise_and.Scalar_Tensor", "__and__.Tensor", "__and__.Scalar"},
        {bitwise<arith::AndIOp>, {}});
  enter(table, {"bitwise_or.Tensor", "bitwise_or.Scalar", "bitwise_or.Scalar_Tensor", "__or__.Tensor", "__or__.Scalar"},
        {bitwise<arith::OrIOp>, {}});
  enter(table,
        {"bitwise_xor.Tensor", "bitwise_xor.Scalar", "bitwise_xor.Scalar_Tensor", "__xor__.Tensor", "__xor__.Scalar"},
        {bitwise<arith::XOrIOp>, {}});
  enter(table, {"logical_and.default"}, {logical<arith::AndIOp>, {}});
  enter(table, {"logical_or.default"}, {logical<arith::OrIOp>, {}});
  enter(table, {"logical_xor.default"}, {logical<arith::XOrIOp>, {}});
  enter(table, {"logical_not.default"}, lowerLogicalNot);
  enter(table, {"bitwise_not.default"}, lowerNot);
  enter(table, {"neg.default", "negative.default"}, lowerNegate);
  enter(table, {"abs.default", "absolute.default"}, lowerAbs);
  enter(table, {"sign.default", "sgn.default"}, lowerSign);
  enter(table, {"reciprocal.default"}, lowerReciprocal);
  enter(table, {"square.default"}, lowerSquare);
  enter(table,
        {"clamp.default", "clamp.Tensor", "clamp_min.default", "clamp_min.Tensor", "clamp_max.default",
         "clamp_max.Tensor", "clip.default", "clip.Tensor"},
        lowerClamp);
  enter(table, {"where.self", "where.ScalarOther", "where.ScalarSelf", "where.Scalar"}, {lowerWhere, {"condition"}});
  enter(table, {"masked_fill.Scalar", "masked_fill.Tensor"}, {lowerMaskedFill, {"self", "mask"}});
  enter(table, {"addcmul.default"}, {lowerAddcmul<true>, {"self", "tensor1", "tensor2"}});
  enter(table, {"addcdiv.default"}, {lowerAddcmul<false>, {"self", "tensor1", "tensor2"}});
  enter(table, {"lerp.Scalar", "lerp.Tensor"}, {lowerLerp, {"self", "end"}});
  enter(table,
        {"_to_copy.default",
         "to.dtype",
         "to.device",
         "to.dtype_layout",
         "to.other",
         "type_as.default",
         "clone.default",
         "contiguous.default",
         "alias.default",
         "lift_fresh_copy.default",
         "lift_fresh.default",
         "lift.default",
         "positive.default",
         "resolve_conj.default",
         "resolve_neg.default",
         "conj.default",
         "real.default",
         "conj_physical.default",
         "_conj.default",
         "_conj_physical.default",
         "alias_copy.default"},
        lowerSame);
  enter(table, {"detach.default"}, lowerDetach);
  enter(table, {"copy.default"}, {lowerCopy, {"self", "src"}});
  enter(table, {"fill.Scalar", "fill.Tensor"}, lowerFill);
}
