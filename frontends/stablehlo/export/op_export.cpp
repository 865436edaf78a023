// Types, constants and calls that all exports share; see op_export.h.
#include "frontends/stablehlo/export/op_export.h"

#include "dialects/sgd/linear_algebra.h"
#include "frontends/stablehlo/input/elementwise_ops.h"
#include "frontends/stablehlo/input/library_ops.h"
#include "frontends/stablehlo/input/shape_ops.h"

using namespace mlir;
using namespace mlir::sgd;

RankedTensorType mlir::sgd::getExportedType(Type type) {
  if (auto tensor = dyn_cast<RankedTensorType>(type))
    return RankedTensorType::get(tensor.getShape(), tensor.getElementType());
  return RankedTensorType::get({}, type);
}

static RankedTensorType withSignedness(RankedTensorType type, IntegerType::SignednessSemantics semantics) {
  auto element = dyn_cast<IntegerType>(type.getElementType());
  // Booleans have no sign in StableHLO.
  if (!element || element.getWidth() == 1) return type;
  return type.clone(IntegerType::get(type.getContext(), element.getWidth(), semantics));
}

RankedTensorType mlir::sgd::withUnsigned(RankedTensorType type) { return withSignedness(type, IntegerType::Unsigned); }

RankedTensorType mlir::sgd::withSignless(RankedTensorType type) { return withSignedness(type, IntegerType::Signless); }

Value OpExport::createNamed(StringRef name, RankedTensorType type, ValueRange operands) {
  OperationState state(loc, name, operands, TypeRange(type));
  return builder.create(state)->getResult(0);
}

Value OpExport::reinterpret(Value value, RankedTensorType type) {
  if (value.getType() == type) return value;
  return createNamed("stablehlo.bitcast_convert", type, value);
}

Value OpExport::convert(Value value, RankedTensorType type) {
  if (value.getType() == type) return value;
  return createNamed("stablehlo.convert", type, value);
}

Value OpExport::constant(DenseElementsAttr elements) {
  return createWith<stablehlo::ConstantOp>(elements.getType(), {}, {{"value", elements}});
}

Value OpExport::splat(RankedTensorType type, int64_t value) {
  Type element = type.getElementType();
  if (isa<FloatType>(element)) return constant(DenseElementsAttr::get(type, builder.getFloatAttr(element, value)));
  APInt bits(element.getIntOrFloatBitWidth(), static_cast<uint64_t>(value), /*isSigned=*/true, /*implicitTrunc=*/true);
  return constant(DenseElementsAttr::get(type, builder.getIntegerAttr(element, bits)));
}

Value OpExport::compare(stablehlo::ComparisonDirection direction, Value lhs, Value rhs) {
  auto type = cast<RankedTensorType>(lhs.getType());
  Type element = type.getElementType();
  auto kind = isa<FloatType>(element)                               ? stablehlo::ComparisonType::FLOAT
              : element.isUnsignedInteger() || element.isInteger(1) ? stablehlo::ComparisonType::UNSIGNED
                                                                    : stablehlo::ComparisonType::SIGNED;
  MLIRContext* context = builder.getContext();
  return createWith<stablehlo::CompareOp>(
      type.clone(builder.getI1Type()), {lhs, rhs},
      {{"comparison_direction", stablehlo::ComparisonDirectionAttr::get(context, direction)},
       {"compare_type", stablehlo::ComparisonTypeAttr::get(context, kind)}});
}

/// Attributes of `op` that say what it computes, as text.
static std::string printAttributes(Operation* op) {
  NamedAttrList attributes(op->getPropertiesAsAttribute() ? cast<DictionaryAttr>(op->getPropertiesAsAttribute())
                                                          : DictionaryAttr::get(op->getContext()));
  // Of all ops the sizes of operands and results by group, which their types tell.
  for (StringRef derived : {"operandSegmentSizes", "resultSegmentSizes"}) attributes.erase(derived);
  // Which is a number among attributes.
  if (auto algebra = dyn_cast<LinearAlgebraOp>(op))
    attributes.set("kind", StringAttr::get(op->getContext(), stringifyLinearAlgebraKind(algebra.getKind())));
  std::string text;
  llvm::raw_string_ostream stream(text);
  stream << '{';
  llvm::interleaveComma(attributes, stream, [&](NamedAttribute attribute) {
    stream << attribute.getName().getValue();
    if (!isa<UnitAttr>(attribute.getValue())) stream << " = " << attribute.getValue();
  });
  stream << '}';
  return text;
}

LogicalResult mlir::sgd::exportAsCall(OpExport& e) {
  SmallVector<Type> types =
      llvm::map_to_vector(e.op->getResultTypes(), [](Type type) -> Type { return getExportedType(type); });
  auto call = e.createWith<stablehlo::CustomCallOp>(
      types, e.operands,
      {{"call_target_name", e.builder.getStringAttr(e.op->getName().getStringRef())},
       {"has_side_effect", e.builder.getBoolAttr(!isMemoryEffectFree(e.op))},
       {"backend_config", e.builder.getStringAttr(printAttributes(e.op))}});
  return e.finish(call->getResults());
}
