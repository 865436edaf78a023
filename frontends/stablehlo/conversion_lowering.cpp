// Lowers conversions between element types with XLA's results: floats to integers saturate, NaN
// becomes 0, booleans are 0 or 1.
#include "frontends/stablehlo/input/elementwise_ops.h"
#include "frontends/stablehlo/op_lowering.h"

using namespace mlir;
using namespace mlir::sgd;

namespace {

Value convertFloats(OpLowering& l, Value input, RankedTensorType to) {
  auto from = cast<RankedTensorType>(input.getType());
  unsigned fromBits = from.getElementTypeBitWidth(), toBits = to.getElementTypeBitWidth();
  if (fromBits < toBits) return l.create<arith::ExtFOp>(to, input);
  if (fromBits > toBits) return l.create<arith::TruncFOp>(to, input);
  // bf16 and f16: neither holds the other.
  return l.create<arith::TruncFOp>(to, l.create<arith::ExtFOp>(from.clone(l.builder.getF32Type()), input));
}

Value convertIntegers(OpLowering& l, Value input, Type fromElement, RankedTensorType to) {
  auto from = cast<RankedTensorType>(input.getType());
  unsigned fromBits = from.getElementTypeBitWidth(), toBits = to.getElementTypeBitWidth();
  if (fromBits > toBits) return l.create<arith::TruncIOp>(to, input);
  if (fromBits == toBits) return input;
  if (isUnsigned(fromElement)) return l.create<arith::ExtUIOp>(to, input);
  return l.create<arith::ExtSIOp>(to, input);
}

LogicalResult lowerConvert(OpLowering& l) {
  Type from = l.getElementType(), to = cast<RankedTensorType>(l.op->getResult(0).getType()).getElementType();
  RankedTensorType type = l.getResultType(), operandType = l.getOperandType();
  Value input = l.operands[0];
  if (from == to) return l.finish(input);
  if (isa<FloatType>(from)) {
    if (isa<FloatType>(to)) return l.finish(convertFloats(l, input, type));
    if (to.isInteger(1)) return l.replace<arith::CmpFOp>(arith::CmpFPredicate::UNE, input, l.splat(operandType, 0.0));
    return to.isUnsignedInteger() ? l.replace<FPToUIOp>(type, input) : l.replace<FPToSIOp>(type, input);
  }
  if (isa<FloatType>(to))
    return isUnsigned(from) ? l.replace<arith::UIToFPOp>(type, input) : l.replace<arith::SIToFPOp>(type, input);
  if (to.isInteger(1))
    return l.replace<arith::CmpIOp>(arith::CmpIPredicate::ne, input,
                                    l.splat(operandType, APInt::getZero(operandType.getElementTypeBitWidth())));
  return l.finish(convertIntegers(l, input, from, type));
}

LogicalResult lowerBitcast(OpLowering& l) {
  RankedTensorType from = l.getOperandType(), to = l.getResultType();
  if (from.getElementTypeBitWidth() != to.getElementTypeBitWidth())
    return l.error() << "from " << from << " to " << to << " is not supported yet: elements of different widths";
  return from == to ? l.finish(l.operands[0]) : l.replace<arith::BitcastOp>(to, l.operands[0]);
}

/// Formats that have a type of their own; others would need arithmetic on bits.
LogicalResult lowerReducePrecision(OpLowering& l) {
  auto op = cast<stablehlo::ReducePrecisionOp>(l.op);
  RankedTensorType type = l.getResultType();
  unsigned exponent = op.getExponentBits(), mantissa = op.getMantissaBits();
  Type element = type.getElementType();
  auto isFormat = [&](unsigned e, unsigned m) { return exponent == e && mantissa == m; };
  bool keeps = (element.isF32() && isFormat(8, 23)) || (element.isF64() && isFormat(11, 52)) ||
               (element.isBF16() && isFormat(8, 7)) || (element.isF16() && isFormat(5, 10));
  if (keeps) return l.finish(l.operands[0]);
  if (!element.isF32() || !isFormat(8, 7))
    return l.error() << "from " << element << " to format e" << exponent << "m" << mantissa
                     << " is not supported yet; use e8m7 on f32";
  Value narrow = l.create<arith::TruncFOp>(type.clone(l.builder.getBF16Type()), l.operands[0]);
  return l.replace<arith::ExtFOp>(type, narrow);
}

}  // namespace

void sgd::addConversionLowerings(LoweringTable& table) {
  table["stablehlo.convert"] = lowerConvert;
  table["stablehlo.bitcast_convert"] = lowerBitcast;
  table["stablehlo.reduce_precision"] = lowerReducePrecision;
}
