// Parsers and printers of StableHLO's pretty syntax; see assembly_format.h.
#include "frontends/stablehlo/input/assembly_format.h"

using namespace mlir;
using namespace mlir::stablehlo;

namespace {

/// Sets `operands` and `result` from a function type read at `loc`.
ParseResult assignFunctionType(OpAsmParser& parser, SMLoc loc, FunctionType type, ArrayRef<Type*> operands,
                               Type& result) {
  if (type.getNumInputs() != operands.size() || type.getNumResults() != 1)
    return parser.emitError(loc, "expected a function type with ") << operands.size() << " inputs and one result";
  for (auto [operand, input] : llvm::zip_equal(operands, type.getInputs())) *operand = input;
  result = type.getResult(0);
  return success();
}

ParseResult parseI64List(AsmParser& parser, SmallVectorImpl<int64_t>& values) {
  return parser.parseCommaSeparatedList(AsmParser::Delimiter::Square,
                                        [&]() { return parser.parseInteger(values.emplace_back()); });
}

/// `[0] x [1]`
ParseResult parseListPair(OpAsmParser& parser, SmallVectorImpl<int64_t>& lhs, SmallVectorImpl<int64_t>& rhs) {
  return failure(parser.parseEqual() || parseI64List(parser, lhs) || parser.parseKeyword("x") ||
                 parseI64List(parser, rhs));
}

void printList(AsmPrinter& printer, ArrayRef<int64_t> values) {
  printer << '[';
  llvm::interleaveComma(values, printer);
  printer << ']';
}

ParseResult parsePrecisionList(OpAsmParser& parser, ArrayAttr& precision) {
  SmallVector<Attribute> modes;
  auto parseMode = [&]() -> ParseResult {
    StringRef keyword;
    SMLoc loc = parser.getCurrentLocation();
    if (parser.parseKeyword(&keyword)) return failure();
    std::optional<Precision> mode = symbolizePrecision(keyword);
    if (!mode) return parser.emitError(loc, "expected DEFAULT, HIGH or HIGHEST");
    modes.push_back(PrecisionAttr::get(parser.getContext(), *mode));
    return success();
  };
  if (parser.parseEqual() || parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseMode)) return failure();
  precision = parser.getBuilder().getArrayAttr(modes);
  return success();
}

}  // namespace

ParseResult stablehlo::parseOneTypeOrFunction(OpAsmParser& parser, ArrayRef<Type*> operands, Type& result) {
  SMLoc loc = parser.getCurrentLocation();
  Type type;
  if (parser.parseType(type)) return failure();
  if (auto function = dyn_cast<FunctionType>(type)) return assignFunctionType(parser, loc, function, operands, result);
  for (Type* operand : operands) *operand = type;
  result = type;
  return success();
}

void stablehlo::printOneTypeOrFunction(OpAsmPrinter& printer, ArrayRef<Type> operands, Type result) {
  if (llvm::all_of(operands, [&](Type type) { return type == result; }))
    printer << result;
  else
    printer.printFunctionalType(operands, TypeRange(result));
}

ParseResult stablehlo::parseComplexType(OpAsmParser& parser, Type& lhs, Type& rhs, Type& result) {
  if (parseOneTypeOrFunction(parser, {&lhs, &rhs}, result)) return failure();
  auto tensor = dyn_cast<RankedTensorType>(result);
  auto element = tensor ? dyn_cast<ComplexType>(tensor.getElementType()) : ComplexType();
  if (lhs == result && element) lhs = rhs = tensor.clone(element.getElementType());
  return success();
}

void stablehlo::printComplexType(OpAsmPrinter& printer, Operation*, Type lhs, Type rhs, Type result) {
  auto tensor = cast<RankedTensorType>(result);
  Type part = tensor.clone(cast<ComplexType>(tensor.getElementType()).getElementType());
  if (lhs == part && rhs == part)
    printer << result;
  else
    printer.printFunctionalType(TypeRange{lhs, rhs}, TypeRange(result));
}

ParseResult stablehlo::parseSelectType(OpAsmParser& parser, Type& pred, Type& onTrue, Type& onFalse, Type& result) {
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseType(pred)) return failure();
  if (auto function = dyn_cast<FunctionType>(pred))
    return assignFunctionType(parser, loc, function, {&pred, &onTrue, &onFalse}, result);
  if (parser.parseComma() || parser.parseType(result)) return failure();
  onTrue = onFalse = result;
  return success();
}

void stablehlo::printSelectType(OpAsmPrinter& printer, Operation*, Type pred, Type onTrue, Type onFalse, Type result) {
  if (onTrue == result && onFalse == result)
    printer << pred << ", " << result;
  else
    printer.printFunctionalType(TypeRange{pred, onTrue, onFalse}, TypeRange(result));
}

ParseResult stablehlo::parsePairwiseTypes(OpAsmParser& parser, SmallVectorImpl<Type>& operands,
                                          SmallVectorImpl<Type>& results) {
  if (parser.parseTypeList(operands)) return failure();
  results.assign(operands.begin(), operands.end());
  return success();
}

void stablehlo::printPairwiseTypes(OpAsmPrinter& printer, Operation*, TypeRange operands, TypeRange) {
  llvm::interleaveComma(operands, printer);
}

ParseResult stablehlo::parseTupleType(OpAsmParser& parser, SmallVectorImpl<Type>& operands, Type& result) {
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseType(result)) return failure();
  auto tuple = dyn_cast<TupleType>(result);
  if (!tuple) return parser.emitError(loc, "expected a tuple type");
  operands.append(tuple.getTypes().begin(), tuple.getTypes().end());
  return success();
}

void stablehlo::printTupleType(OpAsmPrinter& printer, Operation*, TypeRange, Type result) { printer << result; }

ParseResult stablehlo::parseAllOfResultType(OpAsmParser& parser, ArrayRef<OpAsmParser::UnresolvedOperand> values,
                                            SmallVectorImpl<Type>& operands, Type& result) {
  if (parser.parseType(result)) return failure();
  operands.append(values.size(), result);
  return success();
}

void stablehlo::printAllOfResultType(OpAsmPrinter& printer, Operation*, OperandRange, TypeRange, Type result) {
  printer << result;
}

ParseResult stablehlo::parseFloatFormat(OpAsmParser& parser, IntegerAttr& exponentBits, IntegerAttr& mantissaBits) {
  SMLoc loc = parser.getCurrentLocation();
  StringRef text;
  if (parser.parseKeyword(&text)) return failure();
  unsigned exponent, mantissa;
  StringRef rest = text;
  if (!rest.consume_front("e") || rest.consumeInteger(10, exponent) || !rest.consume_front("m") ||
      rest.getAsInteger(10, mantissa))
    return parser.emitError(loc, "expected a format such as e5m10");
  exponentBits = parser.getBuilder().getI32IntegerAttr(exponent);
  mantissaBits = parser.getBuilder().getI32IntegerAttr(mantissa);
  return success();
}

void stablehlo::printFloatFormat(OpAsmPrinter& printer, Operation*, IntegerAttr exponentBits,
                                 IntegerAttr mantissaBits) {
  printer << 'e' << exponentBits.getInt() << 'm' << mantissaBits.getInt();
}

ParseResult stablehlo::parseSliceRanges(OpAsmParser& parser, DenseI64ArrayAttr& starts, DenseI64ArrayAttr& limits,
                                        DenseI64ArrayAttr& strides) {
  SmallVector<int64_t> start, limit, stride;
  auto parseRange = [&]() -> ParseResult {
    if (parser.parseInteger(start.emplace_back()) || parser.parseColon() || parser.parseInteger(limit.emplace_back()))
      return failure();
    stride.push_back(1);
    return succeeded(parser.parseOptionalColon()) ? parser.parseInteger(stride.back()) : success();
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseRange)) return failure();
  starts = parser.getBuilder().getDenseI64ArrayAttr(start);
  limits = parser.getBuilder().getDenseI64ArrayAttr(limit);
  strides = parser.getBuilder().getDenseI64ArrayAttr(stride);
  return success();
}

void stablehlo::printSliceRanges(OpAsmPrinter& printer, Operation*, DenseI64ArrayAttr starts, DenseI64ArrayAttr limits,
                                 DenseI64ArrayAttr strides) {
  printer << '[';
  llvm::interleaveComma(llvm::seq<size_t>(0, starts.size()), printer, [&](size_t i) {
    printer << starts[i] << ':' << limits[i];
    if (strides[i] != 1) printer << ':' << strides[i];
  });
  printer << ']';
}

ParseResult stablehlo::parseOperandsThenComma(OpAsmParser& parser,
                                              SmallVectorImpl<OpAsmParser::UnresolvedOperand>& operands) {
  while (true) {
    OpAsmParser::UnresolvedOperand operand;
    OptionalParseResult parsed = parser.parseOptionalOperand(operand);
    if (!parsed.has_value()) return operands.empty() ? parser.parseComma() : success();
    if (failed(*parsed) || parser.parseComma()) return failure();
    operands.push_back(operand);
  }
}

void stablehlo::printOperandsThenComma(OpAsmPrinter& printer, Operation*, OperandRange operands) {
  llvm::interleaveComma(operands, printer);
  printer << ',';
}

ParseResult stablehlo::parseDotAttributes(OpAsmParser& parser, DotDimensionNumbersAttr& dims, ArrayAttr& precision,
                                          DotAlgorithmAttr& algorithm) {
  SmallVector<int64_t> lhsBatching, rhsBatching, lhsContracting, rhsContracting;
  while (succeeded(parser.parseOptionalComma())) {
    StringRef field;
    SMLoc loc = parser.getCurrentLocation();
    if (parser.parseKeyword(&field)) return failure();
    ParseResult parsed = success();
    if (field == "batching_dims")
      parsed = parseListPair(parser, lhsBatching, rhsBatching);
    else if (field == "contracting_dims")
      parsed = parseListPair(parser, lhsContracting, rhsContracting);
    else if (field == "precision")
      parsed = parsePrecisionList(parser, precision);
    else if (field == "algorithm")
      parsed = failure(parser.parseEqual() || parser.parseCustomAttributeWithFallback(algorithm));
    else
      return parser.emitError(loc, "expected batching_dims, contracting_dims, precision or algorithm");
    if (failed(parsed)) return failure();
  }
  dims = DotDimensionNumbersAttr::get(parser.getContext(), lhsBatching, rhsBatching, lhsContracting, rhsContracting);
  return success();
}

void stablehlo::printDotAttributes(OpAsmPrinter& printer, Operation* op, DotDimensionNumbersAttr dims,
                                   ArrayAttr precision, DotAlgorithmAttr algorithm) {
  auto printPair = [&](StringRef name, ArrayRef<int64_t> lhs, ArrayRef<int64_t> rhs) {
    printer << ", " << name << " = ";
    printList(printer, lhs);
    printer << " x ";
    printList(printer, rhs);
  };
  if (!dims.getLhsBatching().empty() || !dims.getRhsBatching().empty())
    printPair("batching_dims", dims.getLhsBatching(), dims.getRhsBatching());
  printPair("contracting_dims", dims.getLhsContracting(), dims.getRhsContracting());
  printPrecisions(printer, op, precision);
  if (algorithm) {
    printer << ", algorithm = ";
    printer.printStrippedAttrOrType(algorithm);
  }
}

ParseResult stablehlo::parsePrecisions(OpAsmParser& parser, ArrayAttr& precision) {
  if (failed(parser.parseOptionalComma())) return success();
  return failure(parser.parseKeyword("precision") || parsePrecisionList(parser, precision));
}

void stablehlo::printPrecisions(OpAsmPrinter& printer, Operation*, ArrayAttr precision) {
  if (!precision) return;
  printer << ", precision = [";
  llvm::interleaveComma(precision.getAsRange<PrecisionAttr>(), printer,
                        [&](PrecisionAttr mode) { printer << stringifyPrecision(mode.getValue()); });
  printer << ']';
}

ParseResult stablehlo::parseCallTarget(OpAsmParser& parser, StringAttr& target) {
  return parser.parseSymbolName(target);
}

void stablehlo::printCallTarget(OpAsmPrinter& printer, Operation*, StringAttr target) {
  printer.printSymbolName(target.getValue());
}
