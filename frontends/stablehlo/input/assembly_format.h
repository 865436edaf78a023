// Parsers and printers of the pieces of StableHLO's pretty syntax that ODS cannot describe
// (`custom<...>` in the .td files). Parsing functions append nothing on failure; the parser has
// then reported what it expected and where.
#ifndef SGD_FRONTENDS_STABLEHLO_INPUT_ASSEMBLY_FORMAT_H
#define SGD_FRONTENDS_STABLEHLO_INPUT_ASSEMBLY_FORMAT_H

#include "frontends/stablehlo/input/stablehlo_dialect.h"

namespace mlir::stablehlo {

/// `type` where all types are that one, else `(operand types) -> result type`.
ParseResult parseOneTypeOrFunction(OpAsmParser& parser, ArrayRef<Type*> operands, Type& result);
void printOneTypeOrFunction(OpAsmPrinter& printer, ArrayRef<Type> operands, Type result);

template <typename... Types>
ParseResult parseSameOperandsAndResultType(OpAsmParser& parser, Type& first, Types&... rest) {
  SmallVector<Type*> types{&first, &rest...};
  Type* result = types.pop_back_val();
  return parseOneTypeOrFunction(parser, types, *result);
}
template <typename... Types>
void printSameOperandsAndResultType(OpAsmPrinter& printer, Operation*, Types... types) {
  SmallVector<Type> all{types...};
  printOneTypeOrFunction(printer, ArrayRef(all).drop_back(), all.back());
}

/// `complex type` stands for operands of its element type, else `(types) -> type`.
ParseResult parseComplexType(OpAsmParser& parser, Type& lhs, Type& rhs, Type& result);
void printComplexType(OpAsmPrinter& printer, Operation* op, Type lhs, Type rhs, Type result);

/// `predicate type, value type`, else `(types) -> type`.
ParseResult parseSelectType(OpAsmParser& parser, Type& pred, Type& onTrue, Type& onFalse, Type& result);
void printSelectType(OpAsmPrinter& printer, Operation* op, Type pred, Type onTrue, Type onFalse, Type result);

/// `t1, t2`: operands and results have these types.
ParseResult parsePairwiseTypes(OpAsmParser& parser, SmallVectorImpl<Type>& operands, SmallVectorImpl<Type>& results);
void printPairwiseTypes(OpAsmPrinter& printer, Operation* op, TypeRange operands, TypeRange results);

/// `tuple<t1, t2>`: operands have the element types.
ParseResult parseTupleType(OpAsmParser& parser, SmallVectorImpl<Type>& operands, Type& result);
void printTupleType(OpAsmPrinter& printer, Operation* op, TypeRange operands, Type result);

/// `type`: each operand and the result have it.
ParseResult parseAllOfResultType(OpAsmParser& parser, ArrayRef<OpAsmParser::UnresolvedOperand> values,
                                 SmallVectorImpl<Type>& operands, Type& result);
void printAllOfResultType(OpAsmPrinter& printer, Operation* op, OperandRange values, TypeRange operands, Type result);

/// `e5m10`
ParseResult parseFloatFormat(OpAsmParser& parser, IntegerAttr& exponentBits, IntegerAttr& mantissaBits);
void printFloatFormat(OpAsmPrinter& printer, Operation* op, IntegerAttr exponentBits, IntegerAttr mantissaBits);

/// `[0:4, 0:8:2]`: start, limit and, unless 1, stride of each dimension.
ParseResult parseSliceRanges(OpAsmParser& parser, DenseI64ArrayAttr& starts, DenseI64ArrayAttr& limits,
                             DenseI64ArrayAttr& strides);
void printSliceRanges(OpAsmPrinter& printer, Operation* op, DenseI64ArrayAttr starts, DenseI64ArrayAttr limits,
                      DenseI64ArrayAttr strides);

/// `%a, %b,` before an attribute; `,` alone for no operands.
ParseResult parseOperandsThenComma(OpAsmParser& parser, SmallVectorImpl<OpAsmParser::UnresolvedOperand>& operands);
void printOperandsThenComma(OpAsmPrinter& printer, Operation* op, OperandRange operands);

/// `, batching_dims = [0] x [0], contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT],
/// algorithm = <...>`
ParseResult parseDotAttributes(OpAsmParser& parser, DotDimensionNumbersAttr& dims, ArrayAttr& precision,
                               DotAlgorithmAttr& algorithm);
void printDotAttributes(OpAsmPrinter& printer, Operation* op, DotDimensionNumbersAttr dims, ArrayAttr precision,
                        DotAlgorithmAttr algorithm);

/// `, precision = [DEFAULT, DEFAULT]` or nothing.
ParseResult parsePrecisions(OpAsmParser& parser, ArrayAttr& precision);
void printPrecisions(OpAsmPrinter& printer, Operation* op, ArrayAttr precision);

/// `[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]`
ParseResult parseConvolutionDimensions(AsmParser& parser, ConvDimensionNumbersAttr& dims);
void printConvolutionDimensions(AsmPrinter& printer, ConvDimensionNumbersAttr dims);
inline void printConvolutionDimensions(OpAsmPrinter& printer, Operation*, ConvDimensionNumbersAttr dims) {
  printConvolutionDimensions(printer, dims);
}

/// `{stride = [2, 2], pad = [[0, 1], [0, 1]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse =
/// [false, false]}`, each optional.
ParseResult parseConvolutionWindow(OpAsmParser& parser, DenseI64ArrayAttr& strides, DenseIntElementsAttr& padding,
                                   DenseI64ArrayAttr& lhsDilation, DenseI64ArrayAttr& rhsDilation,
                                   DenseBoolArrayAttr& reversal);
void printConvolutionWindow(OpAsmPrinter& printer, Operation* op, DenseI64ArrayAttr strides,
                            DenseIntElementsAttr padding, DenseI64ArrayAttr lhsDilation, DenseI64ArrayAttr rhsDilation,
                            DenseBoolArrayAttr reversal);

/// `@Sharding`
ParseResult parseCallTarget(OpAsmParser& parser, StringAttr& target);
void printCallTarget(OpAsmPrinter& printer, Operation* op, StringAttr target);

}  // namespace mlir::stablehlo

#endif
