// The dialect `chlo`, and the syntax of its attributes.
#include "frontends/stablehlo/input/chlo_dialect.h"

#include "frontends/stablehlo/input/struct_syntax.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::chlo;

#include "frontends/stablehlo/input/chlo_dialect.cpp.inc"
#include "frontends/stablehlo/input/chlo_enums.cpp.inc"

Attribute RaggedDotDimensionNumbersAttr::parse(AsmParser& parser, Type) {
  SmallVector<int64_t> lhsBatching, rhsBatching, lhsContracting, rhsContracting, lhsRagged, rhsGroup;
  stablehlo::StructParser fields(parser);
  fields.field("lhs_batching_dimensions", lhsBatching).field("rhs_batching_dimensions", rhsBatching);
  fields.field("lhs_contracting_dimensions", lhsContracting).field("rhs_contracting_dimensions", rhsContracting);
  fields.field("lhs_ragged_dimensions", lhsRagged).field("rhs_group_dimensions", rhsGroup);
  if (fields.parse()) return {};
  return get(parser.getContext(), lhsBatching, rhsBatching, lhsContracting, rhsContracting, lhsRagged, rhsGroup);
}

void RaggedDotDimensionNumbersAttr::print(AsmPrinter& printer) const {
  stablehlo::StructPrinter fields(printer);
  fields.field("lhs_batching_dimensions", getLhsBatching()).field("rhs_batching_dimensions", getRhsBatching());
  fields.field("lhs_contracting_dimensions", getLhsContracting())
      .field("rhs_contracting_dimensions", getRhsContracting());
  fields.field("lhs_ragged_dimensions", getLhsRagged()).field("rhs_group_dimensions", getRhsGroup());
}

#define GET_ATTRDEF_CLASSES
#include "frontends/stablehlo/input/chlo_attrs.cpp.inc"

#define GET_OP_CLASSES
#include "frontends/stablehlo/input/chlo_ops.cpp.inc"

void ChloDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "frontends/stablehlo/input/chlo_attrs.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "frontends/stablehlo/input/chlo_ops.cpp.inc"
      >();
}
