// Exports of scalar ops, on tensors and in bodies. Those of the table that the import reads have no code here.
#include "frontends/stablehlo/export/op_export.h"
#include "frontends/stablehlo/input/elementwise_ops.h"
#include "frontends/stablehlo/input/shape_ops.h"

using namespace mlir;
using namespace mlir::sgd;
using stablehlo::ComparisonDirection;

namespace {

bool isBoolean(RankedTensorType type) { return type.getElementType().isInteger(1); }

LogicalResult exportConstant(OpExport& e) {
  auto value = cast<arith::ConstantOp>(e.op).getValue();
  RankedTensorType type = e.getResultType();
  if (auto elements = dyn_cast<DenseElementsAttr>(value)) return e.finish(e.constant(elements.reshape(type)));
  if (isa<IntegerAttr, FloatAttr>(value)) return e.finish(e.constant(DenseElementsAttr::get(type, Attribute(value))));
  // A resource: a large constant that is not in the text's body.
  return e.finish(e.createWith<stablehlo::ConstantOp>(type, {}, {{"value", value}})->getResults());
}

LogicalResult exportSelect(OpExport& e) {
  return e.finish(e.createNamed("stablehlo.select", e.getResultType(), e.operands));
}

/// A comparison of floats: one of StableHLO's, which but for NE are false where an operand is NaN, and its inverse.
struct FloatComparison {
  ComparisonDirection direction;
  bool isInverted;
};

std::optional<FloatComparison> getFloatComparison(arith::CmpFPredicate predicate) {
  using P = arith::CmpFPredicate;
  using D = ComparisonDirection;
  switch (predicate) {
    case P::OEQ:
      return FloatComparison{D::EQ, false};
    case P::OGT:
      return FloatComparison{D::GT, false};
    case P::OGE:
      return FloatComparison{D::GE, false};
    case P::OLT:
      return FloatComparison{D::LT, false};
    case P::OLE:
      return FloatComparison{D::LE, false};
    case P::UNE:
      return FloatComparison{D::NE, false};
    case P::UGT:
      return FloatComparison{D::LE, true};
    case P::UGE:
      return FloatComparison{D::LT, true};
    case P::ULT:
      return FloatComparison{D::GE, true};
    case P::ULE:
      return FloatComparison{D::GT, true};
    case P::ONE:
    case P::UEQ:
    case P::ORD:
    case P::UNO:
    case P::AlwaysTrue:
    case P::AlwaysFalse:
      return std::nullopt;
  }
  llvm_unreachable("all predicates are handled");
}

Value invert(OpExport& e, Value flags) {
  return e.createNamed("stablehlo.not", cast<RankedTensorType>(flags.getType()), flags);
}

/// The comparisons that are two of StableHLO's.
LogicalResult exportUnusualComparison(OpExport& e, arith::CmpFPredicate predicate) {
  using P = arith::CmpFPredicate;
  Value lhs = e.operands[0], rhs = e.operands[1];
  auto join = [&](StringRef name, Value a, Value b) { return e.createNamed(name, e.getResultType(), {a, b}); };
  if (predicate == P::AlwaysTrue || predicate == P::AlwaysFalse)
    return e.finish(e.splat(e.getResultType(), predicate == P::AlwaysTrue ? 1 : 0));
  const bool isOfNan = predicate == P::UNO || predicate == P::ORD;
  Value found = isOfNan ? join("stablehlo.or", e.compare(ComparisonDirection::NE, lhs, lhs),
                               e.compare(ComparisonDirection::NE, rhs, rhs))
                        : join("stablehlo.or", e.compare(ComparisonDirection::LT, lhs, rhs),
                               e.compare(ComparisonDirection::GT, lhs, rhs));
  return e.finish(predicate == P::ORD || predicate == P::UEQ ? invert(e, found) : found);
}

LogicalResult exportFloatComparison(OpExport& e) {
  arith::CmpFPredicate predicate = cast<arith::CmpFOp>(e.op).getPredicate();
  std::optional<FloatComparison> comparison = getFloatComparison(predicate);
  if (!comparison) return exportUnusualComparison(e, predicate);
  Value found = e.compare(comparison->direction, e.operands[0], e.operands[1]);
  return e.finish(comparison->isInverted ? invert(e, found) : found);
}

struct IntegerComparison {
  ComparisonDirection direction;
  bool isUnsigned;
};

IntegerComparison getIntegerComparison(arith::CmpIPredicate predicate) {
  using P = arith::CmpIPredicate;
  using D = ComparisonDirection;
  switch (predicate) {
    case P::eq:
      return {D::EQ, false};
    case P::ne:
      return {D::NE, false};
    case P::slt:
      return {D::LT, false};
    case P::sle:
      return {D::LE, false};
    case P::sgt:
      return {D::GT, false};
    case P::sge:
      return {D::GE, false};
    case P::ult:
      return {D::LT, true};
    case P::ule:
      return {D::LE, true};
    case P::ugt:
      return {D::GT, true};
    case P::uge:
      return {D::GE, true};
  }
  llvm_unreachable("all predicates are handled");
}

LogicalResult exportIntegerComparison(OpExport& e) {
  auto [direction, isUnsigned] = getIntegerComparison(cast<arith::CmpIOp>(e.op).getPredicate());
  Value lhs = e.operands[0], rhs = e.operands[1];
  const bool isOrdered = direction != ComparisonDirection::EQ && direction != ComparisonDirection::NE;
  // A signed boolean that is true is -1, the smaller one.
  if (isOrdered && !isUnsigned && isBoolean(e.getOperandType())) std::swap(lhs, rhs);
  if (isUnsigned) lhs = e.toUnsigned(lhs), rhs = e.toUnsigned(rhs);
  return e.finish(e.compare(direction, lhs, rhs));
}

LogicalResult exportConversion(OpExport& e) { return e.finish(e.convert(e.operands[0], e.getResultType())); }

/// From signed integers; of booleans, true is -1.
LogicalResult exportSignedConversion(OpExport& e) {
  Value converted = e.convert(e.operands[0], e.getResultType());
  if (!isBoolean(e.getOperandType())) return e.finish(converted);
  return e.finish(e.createNamed("stablehlo.negate", e.getResultType(), converted));
}

LogicalResult exportUnsignedConversion(OpExport& e) {
  RankedTensorType type = e.getResultType();
  Value converted =
      e.convert(e.toUnsigned(e.operands[0]), isa<FloatType>(type.getElementType()) ? type : withUnsigned(type));
  return e.finish(e.toSignless(converted));
}

LogicalResult exportFloatToUnsigned(OpExport& e) {
  return e.finish(e.toSignless(e.convert(e.operands[0], withUnsigned(e.getResultType()))));
}

LogicalResult exportTruncation(OpExport& e) {
  if (!isBoolean(e.getResultType())) return exportConversion(e);
  // The lowest bit, while a conversion would compare with zero.
  RankedTensorType type = e.getOperandType();
  Value bit = e.createNamed("stablehlo.and", type, {e.operands[0], e.splat(type, 1)});
  return e.finish(e.compare(ComparisonDirection::NE, bit, e.splat(type, 0)));
}

LogicalResult exportBitcast(OpExport& e) {
  if (e.getOperandType() == e.getResultType()) return e.finish(e.operands[0]);
  return e.finish(e.createNamed("stablehlo.bitcast_convert", e.getResultType(), e.operands[0]));
}

LogicalResult exportFusedMultiplyAdd(OpExport& e) {
  RankedTensorType type = e.getResultType();
  Value product = e.createNamed("stablehlo.multiply", type, {e.operands[0], e.operands[1]});
  return e.finish(e.createNamed("stablehlo.add", type, {product, e.operands[2]}));
}

LogicalResult exportCopySign(OpExport& e) {
  RankedTensorType type = e.getResultType();
  const unsigned width = type.getElementTypeBitWidth();
  RankedTensorType bits = type.clone(e.builder.getIntegerType(width));
  auto masked = [&](Value value, const APInt& mask) {
    Value cast = e.createNamed("stablehlo.bitcast_convert", bits, value);
    Value constant = e.constant(DenseElementsAttr::get(bits, mask));
    return e.createNamed("stablehlo.and", bits, {cast, constant});
  };
  Value magnitude = masked(e.operands[0], APInt::getSignedMaxValue(width));
  Value sign = masked(e.operands[1], APInt::getSignMask(width));
  Value joined = e.createNamed("stablehlo.or", bits, {magnitude, sign});
  return e.finish(e.createNamed("stablehlo.bitcast_convert", type, joined));
}

}  // namespace

void mlir::sgd::addElementwiseExports(ExportTable& table) {
  const std::pair<StringRef, ExportFn> entries[] = {
      {"arith.constant", exportConstant},         {"arith.select", exportSelect},
      {"arith.cmpf", exportFloatComparison},      {"arith.cmpi", exportIntegerComparison},
      {"arith.bitcast", exportBitcast},           {"arith.extf", exportConversion},
      {"arith.truncf", exportConversion},         {"arith.extsi", exportSignedConversion},
      {"arith.sitofp", exportSignedConversion},   {"arith.extui", exportUnsignedConversion},
      {"arith.uitofp", exportUnsignedConversion}, {"arith.trunci", exportTruncation},
      {"arith.fptosi", exportConversion},         {"arith.fptoui", exportFloatToUnsigned},
      {"sgd.fptosi", exportConversion},           {"sgd.fptoui", exportFloatToUnsigned},
      {"math.copysign", exportCopySign},          {"math.fma", exportFusedMultiplyAdd},
  };
  for (auto [name, fn] : entries) table[name] = fn;
}
