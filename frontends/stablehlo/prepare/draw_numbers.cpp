// Bits to numbers; see draw_numbers.h.
#include "frontends/stablehlo/prepare/draw_numbers.h"

#include <cmath>

#include "frontends/stablehlo/input/chlo_dialect.h"
#include "frontends/stablehlo/input/elementwise_ops.h"
#include "frontends/stablehlo/input/shape_ops.h"

using namespace mlir;
using namespace mlir::sgd;

namespace {

class Draw {
 public:
  Draw(stablehlo::RngOp op, Value state, OpBuilder& builder)
      : op(op), builder(builder), loc(op.getLoc()), state(state), type(cast<RankedTensorType>(op.getType())) {}

  FailureOr<DrawnNumbers> run();

 private:
  Type element() const { return type.getElementType(); }
  template <typename OpTy, typename... Args>
  Value create(Args&&... args) {
    return OpTy::create(builder, loc, std::forward<Args>(args)...);
  }
  Value splat(RankedTensorType type, const APInt& value) {
    return create<stablehlo::ConstantOp>(type, DenseElementsAttr::get(type, value));
  }
  Value splat(RankedTensorType type, double value) {
    return create<stablehlo::ConstantOp>(
        type, DenseElementsAttr::get(type, builder.getFloatAttr(type.getElementType(), value)));
  }
  /// A scalar parameter of the distribution for each element.
  Value repeat(Value scalar) { return create<stablehlo::BroadcastInDimOp>(type, scalar, ArrayRef<int64_t>{}); }
  /// Unsigned integers of `width` bits, and the next state.
  Value drawBits(unsigned width) {
    auto bits = type.clone(builder.getIntegerType(width, /*isSigned=*/false));
    auto drawn = stablehlo::RngBitGeneratorOp::create(builder, loc, state.getType(), bits, state,
                                                      stablehlo::RngAlgorithm::THREE_FRY);
    state = drawn.getOutputState();
    return drawn.getOutput();
  }
  /// Floats in [0, 1): the mantissa of a number in [1, 2).
  Value drawUnit();
  Value drawIntegers();
  Value drawNormal(Value mean, Value deviation);

  stablehlo::RngOp op;
  OpBuilder& builder;
  Location loc;
  Value state;
  RankedTensorType type;
};

Value Draw::drawUnit() {
  auto semantics = &cast<FloatType>(element()).getFloatSemantics();
  unsigned width = type.getElementTypeBitWidth(), mantissa = APFloat::semanticsPrecision(*semantics) - 1;
  Value bits = drawBits(width);
  auto bitType = cast<RankedTensorType>(bits.getType());
  Value fraction =
      create<stablehlo::ShiftRightLogicalOp>(bitType, bits, splat(bitType, APInt(width, width - mantissa)));
  Value one = splat(bitType, APFloat::getOne(*semantics).bitcastToAPInt());
  Value number = create<stablehlo::BitcastConvertOp>(type, create<stablehlo::OrOp>(bitType, fraction, one));
  return create<stablehlo::SubtractOp>(type, number, splat(type, 1.0));
}

Value Draw::drawIntegers() {
  unsigned width = type.getElementTypeBitWidth();
  Value low = repeat(op.getA()), high = repeat(op.getB());
  auto bits = type.clone(builder.getIntegerType(width, /*isSigned=*/false));
  auto asBits = [&](Value value) {
    return value.getType() == bits ? value : create<stablehlo::BitcastConvertOp>(bits, value);
  };
  Value range = create<stablehlo::SubtractOp>(bits, asBits(high), asBits(low));
  Value drawn = create<stablehlo::RemOp>(bits, drawBits(width), range);
  Value number = create<stablehlo::AddOp>(bits, asBits(low), drawn);
  return bits == type ? number : create<stablehlo::BitcastConvertOp>(type, number);
}

Value Draw::drawNormal(Value mean, Value deviation) {
  // In (-1, 1): at -1 the inverse is infinite.
  Value centred = create<stablehlo::SubtractOp>(type, create<stablehlo::MulOp>(type, drawUnit(), splat(type, 2.0)),
                                                splat(type, 1.0));
  APFloat least = APFloat::getOne(cast<FloatType>(element()).getFloatSemantics(), /*Negative=*/true);
  least.next(/*nextDown=*/false);
  Value bound = create<stablehlo::ConstantOp>(type, DenseElementsAttr::get(type, least));
  Value inverse = create<chlo::ErfInvOp>(type, create<stablehlo::MaxOp>(type, centred, bound));
  Value standard = create<stablehlo::MulOp>(type, inverse, splat(type, std::sqrt(2.0)));
  return create<stablehlo::AddOp>(type, create<stablehlo::MulOp>(type, standard, repeat(deviation)), repeat(mean));
}

FailureOr<DrawnNumbers> Draw::run() {
  bool isNormal = op.getRngDistribution() == stablehlo::RngDistribution::NORMAL;
  bool isFloat = isa<Float16Type, BFloat16Type, Float32Type, Float64Type>(element());
  bool isWholeInteger = isa<IntegerType>(element()) && type.getElementTypeBitWidth() >= 8;
  RankedTensorType scalar = type.clone(ArrayRef<int64_t>{});
  bool fits = type.hasStaticShape() && op.getA().getType() == scalar && op.getB().getType() == scalar;
  if (!fits || !(isFloat || (isWholeInteger && !isNormal)))
    return emitError(loc)
           << "'stablehlo.rng' gives " << type << " from " << op.getA().getType() << " and " << op.getB().getType()
           << "; supported are f64, f32, bf16, f16, and uniform integers of 8 to 64 bits, from two scalars of the "
              "elements' type; use jax.random";
  if (!isFloat) {
    Value numbers = drawIntegers();
    return DrawnNumbers{numbers, state};
  }
  if (isNormal) {
    Value numbers = drawNormal(op.getA(), op.getB());
    return DrawnNumbers{numbers, state};
  }
  Value low = repeat(op.getA()), range = create<stablehlo::SubtractOp>(type, repeat(op.getB()), low);
  Value scaled = create<stablehlo::MulOp>(type, drawUnit(), range);
  Value numbers = create<stablehlo::AddOp>(type, scaled, low);
  return DrawnNumbers{numbers, state};
}

}  // namespace

FailureOr<DrawnNumbers> mlir::sgd::drawNumbers(stablehlo::RngOp op, Value state, OpBuilder& builder) {
  return Draw(op, state, builder).run();
}
