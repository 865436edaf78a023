// Lowers elementwise ops with XLA's results on every input, NaN and integer overflow included.
#include "frontends/stablehlo/elementwise_table.h"
#include "frontends/stablehlo/input/elementwise_ops.h"
#include "frontends/stablehlo/op_lowering.h"
#include "passes/graph/functions/integer_functions.h"
#include "passes/graph/functions/special_functions.h"

using namespace mlir;
using namespace mlir::sgd;

namespace {

/// Lowers an op of the table. An accuracy of transcendental ops other than the default one cannot be promised.
LogicalResult lowerByTable(OpLowering& l) {
  auto accuracy = l.op->getAttrOfType<stablehlo::ResultAccuracyAttr>("result_accuracy");
  if (accuracy && accuracy.getMode().getValue() == stablehlo::ResultAccuracyMode::TOLERANCE)
    return l.error() << "asks for a result_accuracy, which is not supported; leave it to the default";
  StringRef name = findElementwiseRow(l.op->getName().getStringRef())->getGraphOp(l.getElementType());
  if (name.empty()) return l.unsupportedType();
  OperationState state(l.loc, name, l.operands, l.getResultType());
  return l.finish(l.builder.create(state)->getResult(0));
}

Value isEqual(OpLowering& l, Value a, Value b) { return l.create<arith::CmpFOp>(arith::CmpFPredicate::OEQ, a, b); }

LogicalResult lowerAbs(OpLowering& l) {
  return isUnsigned(l.getElementType()) ? l.finish(l.operands[0]) : lowerByTable(l);
}

LogicalResult lowerNegate(OpLowering& l) {
  RankedTensorType type = l.getResultType();
  if (isa<FloatType>(l.getElementType())) return lowerByTable(l);
  return l.replace<arith::SubIOp>(l.splat(type, APInt::getZero(type.getElementTypeBitWidth())), l.operands[0]);
}

LogicalResult lowerNot(OpLowering& l) {
  RankedTensorType type = l.getResultType();
  return l.replace<arith::XOrIOp>(l.operands[0], l.splat(type, APInt::getAllOnes(type.getElementTypeBitWidth())));
}

/// -1, 0 or 1; keeps NaN and the sign of zero.
LogicalResult lowerSign(OpLowering& l) {
  RankedTensorType type = l.getResultType();
  Value x = l.operands[0];
  if (isa<FloatType>(l.getElementType())) {
    Value isNonzero = l.create<arith::CmpFOp>(arith::CmpFPredicate::ONE, x, l.splat(type, 0.0));
    return l.replace<arith::SelectOp>(isNonzero, l.create<math::CopySignOp>(l.splat(type, 1.0), x), x);
  }
  unsigned width = type.getElementTypeBitWidth();
  Value one = l.splat(type, APInt(width, 1));
  if (isUnsigned(l.getElementType())) return l.replace<arith::MinUIOp>(x, one);
  Value minusOne = l.splat(type, APInt::getAllOnes(width));
  return l.replace<arith::MaxSIOp>(l.create<arith::MinSIOp>(x, one), minusOne);
}

LogicalResult lowerLogistic(OpLowering& l) {
  RankedTensorType type = l.getResultType();
  if (!isa<FloatType>(l.getElementType())) return l.unsupportedType();
  Value one = l.splat(type, 1.0);
  Value exponential = l.create<math::ExpOp>(l.create<arith::NegFOp>(l.operands[0]));
  return l.replace<arith::DivFOp>(one, l.create<arith::AddFOp>(one, exponential));
}

LogicalResult lowerSquare(OpLowering& l) {
  Value x = l.operands[0];
  if (isa<FloatType>(l.getElementType())) return l.replace<arith::MulFOp>(x, x);
  return l.replace<arith::MulIOp>(x, x);
}

/// |x| < inf; the same comparison tells infinities.
template <arith::CmpFPredicate predicate>
LogicalResult lowerComparisonOfMagnitude(OpLowering& l) {
  if (!isa<FloatType>(l.getElementType())) return l.unsupportedType();
  Value infinity = l.splat(l.getOperandType(), std::numeric_limits<double>::infinity());
  return l.replace<arith::CmpFOp>(predicate, l.create<math::AbsFOp>(l.operands[0]), infinity);
}

template <bool negative>
LogicalResult lowerIsSignedInfinity(OpLowering& l) {
  if (!isa<FloatType>(l.getElementType())) return l.unsupportedType();
  double infinity = std::numeric_limits<double>::infinity();
  return l.finish(isEqual(l, l.operands[0], l.splat(l.getOperandType(), negative ? -infinity : infinity)));
}

LogicalResult lowerPower(OpLowering& l) {
  Type element = l.getElementType();
  if (isa<FloatType>(element)) return lowerByTable(l);
  if (element.isInteger(1)) return l.unsupportedType();
  TensorMath math(l.builder, l.loc);
  auto known = dyn_cast_or_null<IntegerAttr>(getSplatConstant(l.operands[1]));
  return l.finish(writeIntegerPower(math, l.operands[0], l.operands[1], known, isUnsigned(element)));
}

template <typename FloatMin, typename FloatMax>
LogicalResult clampTo(OpLowering& l, Value min, Value max) {
  return l.replace<FloatMin>(l.create<FloatMax>(l.operands[1], min), max);
}

LogicalResult lowerClamp(OpLowering& l) {
  RankedTensorType type = l.getResultType();
  Value min = l.broadcastScalar(l.operands[0], type), max = l.broadcastScalar(l.operands[2], type);
  Type element = l.getElementType();
  if (isa<FloatType>(element)) return clampTo<arith::MinimumFOp, arith::MaximumFOp>(l, min, max);
  return isUnsigned(element) ? clampTo<arith::MinUIOp, arith::MaxUIOp>(l, min, max)
                             : clampTo<arith::MinSIOp, arith::MaxSIOp>(l, min, max);
}

LogicalResult lowerSelect(OpLowering& l) {
  return l.replace<arith::SelectOp>(l.broadcastScalar(l.operands[0], l.getResultType()), l.operands[1], l.operands[2]);
}

/// Maps floats to integers so that signed comparison gives the IEEE total order: -NaN < -inf < ...
/// < -0 < 0 < ... < NaN.
Value totalOrderKey(OpLowering& l, Value x) {
  auto type = cast<RankedTensorType>(x.getType());
  unsigned width = type.getElementTypeBitWidth();
  auto bitsType = type.clone(l.builder.getIntegerType(width));
  Value bits = l.create<arith::BitcastOp>(bitsType, x);
  Value sign = l.create<ShRSIOp>(bits, l.splat(bitsType, APInt(width, width - 1)));
  Value flip = l.create<arith::AndIOp>(sign, l.splat(bitsType, APInt::getSignedMaxValue(width)));
  return l.create<arith::XOrIOp>(bits, flip);
}

/// The upper half of the product.
LogicalResult lowerMulhi(OpLowering& l) {
  RankedTensorType type = l.getResultType();
  Value x = l.operands[0], y = l.operands[1];
  bool isUnsignedProduct = isUnsigned(l.getElementType());
  unsigned width = type.getElementTypeBitWidth();
  if (!isa<IntegerType>(type.getElementType()) || width == 1) return l.unsupportedType();
  if (width < 64) {
    RankedTensorType wide = type.clone(l.builder.getIntegerType(2 * width));
    auto extend = [&](Value value) {
      return isUnsignedProduct ? l.create<arith::ExtUIOp>(wide, value) : l.create<arith::ExtSIOp>(wide, value);
    };
    Value product = l.create<arith::MulIOp>(extend(x), extend(y));
    return l.replace<arith::TruncIOp>(type, l.create<ShRUIOp>(product, l.splat(wide, APInt(2 * width, width))));
  }
  // Halves of 32 bits, whose products fit; what is above the middle carries.
  auto add = [&](Value a, Value b) { return l.create<arith::AddIOp>(a, b); };
  auto multiply = [&](Value a, Value b) { return l.create<arith::MulIOp>(a, b); };
  Value mask = l.splat(type, APInt(64, 0xFFFFFFFF)), half = l.splat(type, APInt(64, 32));
  auto low = [&](Value value) { return l.create<arith::AndIOp>(value, mask); };
  auto high = [&](Value value) { return l.create<ShRUIOp>(value, half); };
  Value cross = add(multiply(high(x), low(y)), high(multiply(low(x), low(y))));
  Value middle = add(multiply(low(x), high(y)), low(cross));
  Value result = add(add(multiply(high(x), high(y)), high(cross)), high(middle));
  if (isUnsignedProduct) return l.finish(result);
  // A negative factor counts 2^64 too much.
  auto otherIfNegative = [&](Value factor, Value other) {
    return l.create<arith::AndIOp>(l.create<ShRSIOp>(factor, l.splat(type, APInt(64, 63))), other);
  };
  result = l.create<arith::SubIOp>(result, otherIfNegative(x, y));
  return l.replace<arith::SubIOp>(result, otherIfNegative(y, x));
}

LogicalResult lowerAtan2(OpLowering& l) {
  if (!isa<FloatType>(l.getResultType().getElementType())) return l.unsupportedType();
  TensorMath math(l.builder, l.loc);
  return l.finish(writeAtan2(math, l.operands[0], l.operands[1]));
}

/// Parts of a number that is real already.
LogicalResult lowerReal(OpLowering& l) { return l.finish(l.operands[0]); }
LogicalResult lowerImag(OpLowering& l) { return l.finish(l.splat(l.getResultType(), 0.0)); }

struct Predicates {
  arith::CmpFPredicate onFloats;
  arith::CmpIPredicate onSigned;
  arith::CmpIPredicate onUnsigned;
};

Predicates getPredicates(stablehlo::ComparisonDirection direction) {
  using F = arith::CmpFPredicate;
  using I = arith::CmpIPredicate;
  switch (direction) {
    case stablehlo::ComparisonDirection::EQ:
      return {F::OEQ, I::eq, I::eq};
    case stablehlo::ComparisonDirection::NE:
      return {F::UNE, I::ne, I::ne};
    case stablehlo::ComparisonDirection::GE:
      return {F::OGE, I::sge, I::uge};
    case stablehlo::ComparisonDirection::GT:
      return {F::OGT, I::sgt, I::ugt};
    case stablehlo::ComparisonDirection::LE:
      return {F::OLE, I::sle, I::ule};
    case stablehlo::ComparisonDirection::LT:
      return {F::OLT, I::slt, I::ult};
  }
  llvm_unreachable("the parser knows all directions");
}

LogicalResult lowerCompare(OpLowering& l) {
  auto compare = cast<stablehlo::CompareOp>(l.op);
  Predicates predicates = getPredicates(compare.getComparisonDirection());
  Value lhs = l.operands[0], rhs = l.operands[1];
  if (compare.getCompareType() == stablehlo::ComparisonType::TOTALORDER)
    return l.replace<arith::CmpIOp>(predicates.onSigned, totalOrderKey(l, lhs), totalOrderKey(l, rhs));
  if (isa<FloatType>(l.getElementType())) return l.replace<arith::CmpFOp>(predicates.onFloats, lhs, rhs);
  return l.replace<arith::CmpIOp>(isUnsigned(l.getElementType()) ? predicates.onUnsigned : predicates.onSigned, lhs,
                                  rhs);
}

}  // namespace

void mlir::sgd::addElementwiseLowerings(LoweringTable& table) {
  for (const ElementwiseRow& row : getElementwiseRows()) table[row.name] = lowerByTable;
  const std::pair<StringRef, LowerFn> entries[] = {
      {"stablehlo.abs", lowerAbs},
      {"stablehlo.atan2", lowerAtan2},
      {"stablehlo.clamp", lowerClamp},
      {"stablehlo.compare", lowerCompare},
      {"stablehlo.imag", lowerImag},
      {"stablehlo.is_finite", lowerComparisonOfMagnitude<arith::CmpFPredicate::OLT>},
      {"stablehlo.logistic", lowerLogistic},
      {"stablehlo.negate", lowerNegate},
      {"stablehlo.not", lowerNot},
      {"stablehlo.power", lowerPower},
      {"stablehlo.real", lowerReal},
      {"stablehlo.select", lowerSelect},
      {"stablehlo.sign", lowerSign},
      {"chlo.is_inf", lowerComparisonOfMagnitude<arith::CmpFPredicate::OEQ>},
      {"chlo.is_neg_inf", lowerIsSignedInfinity<true>},
      {"chlo.is_pos_inf", lowerIsSignedInfinity<false>},
      {"chlo.mulhi", lowerMulhi},
      {"chlo.square", lowerSquare},
  };
  for (auto [name, lower] : entries) table[name] = lower;
}
