// Syntax of `stablehlo` attributes, and their registration.
#include "frontends/stablehlo/input/assembly_format.h"
#include "frontends/stablehlo/input/struct_syntax.h"

#include "llvm/ADT/TypeSwitch.h"

#include "frontends/stablehlo/input/stablehlo_enums.cpp.inc"

using namespace mlir;
using namespace mlir::stablehlo;

namespace {

using I64List = SmallVector<int64_t>;

}  // namespace

Attribute DotDimensionNumbersAttr::parse(AsmParser& parser, Type) {
  I64List lhsBatching, rhsBatching, lhsContracting, rhsContracting;
  StructParser fields(parser);
  fields.field("lhs_batching_dimensions", lhsBatching).field("rhs_batching_dimensions", rhsBatching);
  fields.field("lhs_contracting_dimensions", lhsContracting).field("rhs_contracting_dimensions", rhsContracting);
  return fields.parse() ? Attribute()
                        : get(parser.getContext(), lhsBatching, rhsBatching, lhsContracting, rhsContracting);
}

void DotDimensionNumbersAttr::print(AsmPrinter& printer) const {
  StructPrinter fields(printer);
  fields.field("lhs_batching_dimensions", getLhsBatching()).field("rhs_batching_dimensions", getRhsBatching());
  fields.field("lhs_contracting_dimensions", getLhsContracting())
      .field("rhs_contracting_dimensions", getRhsContracting());
}

Attribute DotAlgorithmAttr::parse(AsmParser& parser, Type) {
  Type lhs, rhs, accumulation;
  int64_t lhsComponents = 1, rhsComponents = 1, operations = 1;
  bool imprecise = false;
  SMLoc loc = parser.getCurrentLocation();
  StructParser fields(parser);
  fields.field("lhs_precision_type", lhs).field("rhs_precision_type", rhs).field("accumulation_type", accumulation);
  fields.field("lhs_component_count", lhsComponents).field("rhs_component_count", rhsComponents);
  fields.field("num_primitive_operations", operations);
  fields.field("allow_imprecise_accumulation", [&]() -> ParseResult {
    StringRef keyword;
    if (parser.parseKeyword(&keyword)) return failure();
    imprecise = keyword == "true";
    return success();
  });
  if (fields.parse()) return {};
  if (!lhs || !rhs || !accumulation) {
    parser.emitError(loc, "expected lhs_precision_type, rhs_precision_type and accumulation_type");
    return {};
  }
  return get(parser.getContext(), lhs, rhs, accumulation, lhsComponents, rhsComponents, operations, imprecise);
}

void DotAlgorithmAttr::print(AsmPrinter& printer) const {
  StructPrinter fields(printer);
  fields.field("lhs_precision_type", getLhsPrecisionType()).field("rhs_precision_type", getRhsPrecisionType());
  fields.field("accumulation_type", getAccumulationType()).field("lhs_component_count", getLhsComponentCount());
  fields.field("rhs_component_count", getRhsComponentCount())
      .field("num_primitive_operations", getNumPrimitiveOperations());
  fields.field("allow_imprecise_accumulation", StringRef(getAllowImpreciseAccumulation() ? "true" : "false"));
}

Attribute GatherDimensionNumbersAttr::parse(AsmParser& parser, Type) {
  I64List offset, collapsed, operandBatching, indicesBatching, startIndexMap;
  int64_t indexVectorDim = 0;
  StructParser fields(parser);
  fields.field("offset_dims", offset).field("collapsed_slice_dims", collapsed);
  fields.field("operand_batching_dims", operandBatching).field("start_indices_batching_dims", indicesBatching);
  fields.field("start_index_map", startIndexMap).field("index_vector_dim", indexVectorDim);
  if (fields.parse()) return {};
  return get(parser.getContext(), offset, collapsed, operandBatching, indicesBatching, startIndexMap, indexVectorDim);
}

void GatherDimensionNumbersAttr::print(AsmPrinter& printer) const {
  StructPrinter fields(printer);
  fields.field("offset_dims", getOffsetDims()).field("collapsed_slice_dims", getCollapsedSliceDims());
  fields.field("operand_batching_dims", getOperandBatchingDims());
  fields.field("start_indices_batching_dims", getStartIndicesBatchingDims())
      .field("start_index_map", getStartIndexMap());
  if (getIndexVectorDim()) fields.field("index_vector_dim", getIndexVectorDim());
}

Attribute ScatterDimensionNumbersAttr::parse(AsmParser& parser, Type) {
  I64List window, inserted, inputBatching, indicesBatching, toOperand;
  int64_t indexVectorDim = 0;
  StructParser fields(parser);
  fields.field("update_window_dims", window).field("inserted_window_dims", inserted);
  fields.field("input_batching_dims", inputBatching).field("scatter_indices_batching_dims", indicesBatching);
  fields.field("scatter_dims_to_operand_dims", toOperand).field("index_vector_dim", indexVectorDim);
  if (fields.parse()) return {};
  return get(parser.getContext(), window, inserted, inputBatching, indicesBatching, toOperand, indexVectorDim);
}

void ScatterDimensionNumbersAttr::print(AsmPrinter& printer) const {
  StructPrinter fields(printer);
  fields.field("update_window_dims", getUpdateWindowDims()).field("inserted_window_dims", getInsertedWindowDims());
  fields.field("input_batching_dims", getInputBatchingDims());
  fields.field("scatter_indices_batching_dims", getScatterIndicesBatchingDims());
  fields.field("scatter_dims_to_operand_dims", getScatterDimsToOperandDims());
  if (getIndexVectorDim()) fields.field("index_vector_dim", getIndexVectorDim());
}

Attribute ConvDimensionNumbersAttr::parse(AsmParser& parser, Type) {
  ConvDimensionNumbersAttr dims;
  if (parser.parseLess() || parseConvolutionDimensions(parser, dims) || parser.parseGreater()) return {};
  return dims;
}

void ConvDimensionNumbersAttr::print(AsmPrinter& printer) const {
  printer << '<';
  printConvolutionDimensions(printer, *this);
  printer << '>';
}

Attribute ChannelHandleAttr::parse(AsmParser& parser, Type) {
  int64_t handle = 0, type = 0;
  StructParser fields(parser);
  fields.field("handle", handle).field("type", type);
  return fields.parse() ? Attribute() : get(parser.getContext(), handle, type);
}

void ChannelHandleAttr::print(AsmPrinter& printer) const {
  StructPrinter(printer).field("handle", getHandle()).field("type", getType());
}

Attribute OutputOperandAliasAttr::parse(AsmParser& parser, Type) {
  I64List outputIndices, operandIndices;
  int64_t operand = 0;
  StructParser fields(parser);
  fields.field("output_tuple_indices", outputIndices)
      .field("operand_index", operand)
      .field("operand_tuple_indices", operandIndices);
  return fields.parse() ? Attribute() : get(parser.getContext(), outputIndices, operand, operandIndices);
}

void OutputOperandAliasAttr::print(AsmPrinter& printer) const {
  StructPrinter fields(printer);
  fields.field("output_tuple_indices", getOutputTupleIndices(), /*always=*/true)
      .field("operand_index", getOperandIndex());
  fields.field("operand_tuple_indices", getOperandTupleIndices(), /*always=*/true);
}

Attribute ResultAccuracyAttr::parse(AsmParser& parser, Type) {
  APFloat atol(0.0), rtol(0.0);
  int64_t ulps = 0;
  auto mode = ResultAccuracyModeAttr::get(parser.getContext(), ResultAccuracyMode::DEFAULT);
  StructParser fields(parser);
  auto parseFloat = [&](APFloat& value) {
    return [&]() -> ParseResult { return parser.parseFloat(APFloat::IEEEdouble(), value); };
  };
  fields.field("atol", parseFloat(atol)).field("rtol", parseFloat(rtol)).field("ulps", ulps);
  fields.field("mode", [&]() -> ParseResult { return parser.parseAttribute(mode); });
  return fields.parse() ? Attribute() : get(parser.getContext(), atol, rtol, ulps, mode);
}

void ResultAccuracyAttr::print(AsmPrinter& printer) const {
  StructPrinter fields(printer);
  fields.field("atol", getAtol()).field("rtol", getRtol());
  if (getUlps()) fields.field("ulps", getUlps());
  fields.field("mode", Attribute(getMode()));
}

#define GET_ATTRDEF_CLASSES
#include "frontends/stablehlo/input/stablehlo_attrs.cpp.inc"

#define GET_TYPEDEF_CLASSES
#include "frontends/stablehlo/input/stablehlo_types.cpp.inc"

void StablehloDialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "frontends/stablehlo/input/stablehlo_attrs.cpp.inc"
      >();
  addTypes<
#define GET_TYPEDEF_LIST
#include "frontends/stablehlo/input/stablehlo_types.cpp.inc"
      >();
}
