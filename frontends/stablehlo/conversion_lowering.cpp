// Lowers conversions between element types with XLA's results: floats to integers saturate, NaN
// becomes 0, booleans are 0 or 1.
#include <cmath>

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
  // Of bf16 and f16 neither holds the other, nor of the two kinds of f8.
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

/// The integer type of the same width.
RankedTensorType bitsOf(OpLowering& l, RankedTensorType type) {
  return type.clone(l.builder.getIntegerType(type.getElementTypeBitWidth()));
}

Value bitcastTo(OpLowering& l, RankedTensorType type, Value value) {
  return tensorType(value) == type ? value : l.create<arith::BitcastOp>(type, value);
}

/// Elements of the last dimension, least significant first, become one.
Value joinBits(OpLowering& l, Value parts, RankedTensorType type) {
  RankedTensorType from = tensorType(parts);
  unsigned width = from.getElementTypeBitWidth();
  int64_t last = from.getRank() - 1;
  Value joined;
  for (int64_t i = 0; i < from.getShape().back(); ++i) {
    Value part = l.create<ReshapeOp>(type.clone(from.getElementType()), l.takeEvery(parts, last, i, 1, 1));
    Value wide = l.create<arith::ExtUIOp>(type, part);
    if (i > 0) wide = l.create<ShLIOp>(wide, l.splat(type, APInt(type.getElementTypeBitWidth(), width * i)));
    joined = joined ? l.create<arith::OrIOp>(joined, wide) : wide;
  }
  return joined;
}

/// Each element becomes several along a new last dimension, least significant first.
Value splitBits(OpLowering& l, Value whole, RankedTensorType type) {
  RankedTensorType from = tensorType(whole);
  RankedTensorType repeated = type.clone(from.getElementType());
  Value wide = l.create<BroadcastInDimOp>(repeated, whole, llvm::to_vector(llvm::seq<int64_t>(0, from.getRank())));
  Value index = l.create<IotaOp>(repeated, type.getRank() - 1);
  APInt width(from.getElementTypeBitWidth(), type.getElementTypeBitWidth());
  Value distance = l.create<arith::MulIOp>(index, l.splat(repeated, width));
  return l.create<arith::TruncIOp>(type, l.create<ShRUIOp>(wide, distance));
}

LogicalResult lowerBitcast(OpLowering& l) {
  RankedTensorType from = l.getOperandType(), to = l.getResultType();
  unsigned fromWidth = from.getElementTypeBitWidth(), toWidth = to.getElementTypeBitWidth();
  if (fromWidth == toWidth) return l.finish(bitcastTo(l, to, l.operands[0]));
  bool joins = fromWidth < toWidth;
  Value bits = bitcastTo(l, bitsOf(l, from), l.operands[0]);
  bits = joins ? joinBits(l, bits, bitsOf(l, to)) : splitBits(l, bits, bitsOf(l, to));
  return l.finish(bitcastTo(l, to, bits));
}

/// Rounds to a format of fewer bits, on the bits: mantissas to nearest even, exponents that become too large to
/// infinity, too small ones to zero.
Value roundToFormat(OpLowering& l, Value x, unsigned exponentBits, unsigned mantissaBits) {
  RankedTensorType type = tensorType(x), bitsType = bitsOf(l, type);
  auto element = cast<FloatType>(type.getElementType());
  unsigned width = element.getWidth(), ownMantissa = element.getFPMantissaWidth() - 1,
           ownExponent = width - 1 - ownMantissa;
  auto number = [&](uint64_t value) { return l.splat(bitsType, APInt(width, value)); };
  Value bits = l.create<arith::BitcastOp>(bitsType, x);
  if (mantissaBits < ownMantissa) {
    unsigned dropped = ownMantissa - mantissaBits;
    uint64_t half = (uint64_t{1} << (dropped - 1)) - 1;
    Value isOdd = l.create<arith::AndIOp>(l.create<ShRUIOp>(bits, number(dropped)), number(1));
    bits = l.create<arith::AddIOp>(bits, l.create<arith::AddIOp>(isOdd, number(half)));
    bits = l.create<arith::AndIOp>(bits, number(~((uint64_t{1} << dropped) - 1)));
  }
  if (exponentBits < ownExponent) {
    uint64_t bias = (uint64_t{1} << (ownExponent - 1)) - 1, newBias = (uint64_t{1} << (exponentBits - 1)) - 1;
    uint64_t exponentMask = ((uint64_t{1} << ownExponent) - 1) << ownMantissa;
    Value exponent = l.create<arith::AndIOp>(bits, number(exponentMask));
    Value sign = l.create<arith::AndIOp>(bits, number(uint64_t{1} << (width - 1)));
    Value isLarge =
        l.create<arith::CmpIOp>(arith::CmpIPredicate::ugt, exponent, number((bias + newBias) << ownMantissa));
    // The new format has no denormals here either: exponents from 1 - newBias on are kept.
    Value isSmall =
        l.create<arith::CmpIOp>(arith::CmpIPredicate::ule, exponent, number((bias - newBias) << ownMantissa));
    bits = l.create<arith::SelectOp>(isLarge, l.create<arith::OrIOp>(sign, number(exponentMask)), bits);
    bits = l.create<arith::SelectOp>(isSmall, sign, bits);
  }
  Value rounded = l.create<arith::BitcastOp>(type, bits);
  // Without mantissa bits there is no NaN to tell from infinity.
  Value special = mantissaBits > 0 ? x : l.create<math::CopySignOp>(l.splat(type, INFINITY), x);
  return l.create<arith::SelectOp>(l.create<arith::CmpFOp>(arith::CmpFPredicate::UNO, x, x), special, rounded);
}

LogicalResult lowerReducePrecision(OpLowering& l) {
  auto op = cast<stablehlo::ReducePrecisionOp>(l.op);
  RankedTensorType type = l.getResultType();
  int32_t exponent = op.getExponentBits(), mantissa = op.getMantissaBits();
  auto element = cast<FloatType>(type.getElementType());
  if (exponent < 1 || mantissa < 0)
    return l.error() << "to format e" << exponent << "m" << mantissa << " is not possible: it needs an exponent";
  if (isFloat8(element)) {
    // E4M3FN has no infinities, which numbers become that are too large.
    RankedTensorType wide = type.clone(l.builder.getF32Type());
    Value rounded =
        roundToFormat(l, l.create<arith::ExtFOp>(wide, l.operands[0]), std::min(exponent, 8), std::min(mantissa, 23));
    return l.replace<arith::TruncFOp>(type, rounded);
  }
  int32_t ownMantissa = element.getFPMantissaWidth() - 1, ownExponent = element.getWidth() - 1 - ownMantissa;
  if (exponent >= ownExponent && mantissa >= ownMantissa) return l.finish(l.operands[0]);
  if (element.isF32() && exponent == 8 && mantissa == 7) {
    Value narrow = l.create<arith::TruncFOp>(type.clone(l.builder.getBF16Type()), l.operands[0]);
    return l.replace<arith::ExtFOp>(type, narrow);
  }
  return l.finish(roundToFormat(l, l.operands[0], std::min(exponent, ownExponent), std::min(mantissa, ownMantissa)));
}

}  // namespace

void mlir::sgd::addConversionLowerings(LoweringTable& table) {
  table["stablehlo.convert"] = lowerConvert;
  table["stablehlo.bitcast_convert"] = lowerBitcast;
  table["stablehlo.reduce_precision"] = lowerReducePrecision;
}
