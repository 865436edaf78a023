// Ops of `stablehlo` on tensors of reals, written one after another: what complex ops are expanded to.
#ifndef SGD_FRONTENDS_STABLEHLO_COMPLEX_REAL_MATH_H
#define SGD_FRONTENDS_STABLEHLO_COMPLEX_REAL_MATH_H

#include "dialects/sgd/tensor_type.h"
#include "frontends/stablehlo/input/chlo_dialect.h"
#include "frontends/stablehlo/input/elementwise_ops.h"
#include "frontends/stablehlo/input/shape_ops.h"
#include "mlir/IR/Builders.h"

namespace mlir::sgd {

/// A complex tensor as its real and imaginary parts, tensors of one type.
struct Complex {
  Value re, im;
};

/// Writes ops at the builder's insertion point. Operands have one type, which results share unless said.
class RealMath {
 public:
  RealMath(OpBuilder& builder, Location loc) : builder(builder), loc(loc) {}

  /// `OpTy(operands)` of `type` with `attributes`.
  template <typename OpTy>
  Value create(Type type, ValueRange operands, ArrayRef<NamedAttribute> attributes = {}) {
    OperationState state(loc, OpTy::getOperationName(), operands, TypeRange(type), attributes);
    return builder.create(state)->getResult(0);
  }
  template <typename OpTy>
  Value apply(Value x) {
    return create<OpTy>(x.getType(), x);
  }
  template <typename OpTy>
  Value apply(Value x, Value y) {
    return create<OpTy>(x.getType(), {x, y});
  }
  NamedAttribute named(StringRef name, Attribute value) { return builder.getNamedAttr(name, value); }

  Value add(Value x, Value y) { return apply<stablehlo::AddOp>(x, y); }
  Value sub(Value x, Value y) { return apply<stablehlo::SubtractOp>(x, y); }
  Value mul(Value x, Value y) { return apply<stablehlo::MulOp>(x, y); }
  Value div(Value x, Value y) { return apply<stablehlo::DivOp>(x, y); }
  Value max(Value x, Value y) { return apply<stablehlo::MaxOp>(x, y); }
  Value min(Value x, Value y) { return apply<stablehlo::MinOp>(x, y); }
  Value atan2(Value y, Value x) { return apply<stablehlo::Atan2Op>(y, x); }
  Value pow(Value x, Value y) { return apply<stablehlo::PowOp>(x, y); }
  Value neg(Value x) { return apply<stablehlo::NegOp>(x); }
  Value abs(Value x) { return apply<stablehlo::AbsOp>(x); }
  Value sqrt(Value x) { return apply<stablehlo::SqrtOp>(x); }
  Value exp(Value x) { return apply<stablehlo::ExpOp>(x); }
  Value expm1(Value x) { return apply<stablehlo::Expm1Op>(x); }
  Value log(Value x) { return apply<stablehlo::LogOp>(x); }
  Value log1p(Value x) { return apply<stablehlo::Log1pOp>(x); }
  Value sin(Value x) { return apply<stablehlo::SineOp>(x); }
  Value cos(Value x) { return apply<stablehlo::CosineOp>(x); }
  Value sinh(Value x) { return apply<chlo::SinhOp>(x); }
  Value cosh(Value x) { return apply<chlo::CoshOp>(x); }

  /// A constant of `type` with all elements `value`, which the type may round.
  Value splat(RankedTensorType type, double value);
  Value splat(Value like, double value) { return splat(tensorType(like), value); }
  Value scale(Value x, double factor) { return mul(x, splat(x, factor)); }
  Value plus(Value x, double addend) { return add(x, splat(x, addend)); }

  /// Booleans of the operands' shape.
  Value compare(stablehlo::ComparisonDirection direction, Value x, Value y,
                stablehlo::ComparisonType type = stablehlo::ComparisonType::FLOAT);
  Value equals(Value x, double value) { return compare(stablehlo::ComparisonDirection::EQ, x, splat(x, value)); }
  Value isLess(Value x, Value y) { return compare(stablehlo::ComparisonDirection::LT, x, y); }
  Value isLess(Value x, double value) { return isLess(x, splat(x, value)); }
  Value isGreater(Value x, double value) { return isLess(splat(x, value), x); }
  Value logicalAnd(Value x, Value y) { return apply<stablehlo::AndOp>(x, y); }
  Value logicalOr(Value x, Value y) { return apply<stablehlo::OrOp>(x, y); }
  Value isFinite(Value x);
  Value isInfinite(Value x);
  Value logicalNot(Value x) { return apply<stablehlo::NotOp>(x); }

  Value select(Value predicate, Value ifTrue, Value ifFalse) {
    return create<stablehlo::SelectOp>(ifTrue.getType(), {predicate, ifTrue, ifFalse});
  }
  Complex select(Value predicate, Complex ifTrue, Complex ifFalse) {
    return {select(predicate, ifTrue.re, ifFalse.re), select(predicate, ifTrue.im, ifFalse.im)};
  }
  /// |magnitude| with the sign of `sign`, that of zeros and NaN included.
  Value copySign(Value magnitude, Value sign);

  /// The elements converted to `element`.
  Value convert(Value x, Type element);
  Complex convert(Complex z, Type element) { return {convert(z.re, element), convert(z.im, element)}; }

  Value reshape(Value x, ArrayRef<int64_t> shape);
  Value transpose(Value x, ArrayRef<int64_t> permutation);
  Value slice(Value x, ArrayRef<int64_t> starts, ArrayRef<int64_t> limits, ArrayRef<int64_t> strides);
  /// Elements [begin, end) of dimension `dim`.
  Value sliceDim(Value x, int64_t dim, int64_t begin, int64_t end);
  Value reverse(Value x, int64_t dim);
  Value concatenate(ValueRange parts, int64_t dim);
  /// `x` repeated: its dimension i is dimension dims[i] of the result.
  Value broadcast(Value x, ArrayRef<int64_t> shape, ArrayRef<int64_t> dims);
  Value constant(DenseElementsAttr elements);

  /// A tensor with a last dimension of 2: real and imaginary part of each element.
  Value interleave(Complex z);
  Complex deinterleave(Value pairs);

  OpBuilder& builder;
  Location loc;
};

}  // namespace mlir::sgd

#endif
