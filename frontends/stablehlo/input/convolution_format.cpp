// Syntax of the convolution op: dimension numbers and window; see assembly_format.h.
#include "frontends/stablehlo/input/assembly_format.h"

using namespace mlir;
using namespace mlir::stablehlo;

namespace {

/// One of the three lists of `[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]`: positions of two letters
/// and of the spatial numbers.
struct DimensionList {
  char firstLetter;
  char secondLetter;
  int64_t first = -1;
  int64_t second = -1;
  SmallVector<int64_t> spatial;

  ParseResult parse(AsmParser& parser);
  static void print(AsmPrinter& printer, char firstLetter, int64_t first, char secondLetter, int64_t second,
                    ArrayRef<int64_t> spatial);
};

ParseResult DimensionList::parse(AsmParser& parser) {
  SMLoc loc = parser.getCurrentLocation();
  int64_t position = 0;
  SmallVector<std::pair<int64_t, int64_t>> numbers;  // (number, position)
  auto parseElement = [&]() -> ParseResult {
    int64_t number;
    OptionalParseResult parsed = parser.parseOptionalInteger(number);
    if (parsed.has_value()) {
      numbers.emplace_back(number, position++);
      return *parsed;
    }
    StringRef letter;
    SMLoc here = parser.getCurrentLocation();
    if (parser.parseKeyword(&letter)) return failure();
    int64_t& place = letter == StringRef(&firstLetter, 1) ? first : second;
    if ((letter != StringRef(&firstLetter, 1) && letter != StringRef(&secondLetter, 1)) || place != -1)
      return parser.emitError(here, "expected each of '")
             << firstLetter << "' and '" << secondLetter << "' once, and spatial numbers";
    place = position++;
    return success();
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseElement)) return failure();
  spatial.assign(numbers.size(), -1);
  for (auto [number, place] : numbers) {
    if (number < 0 || number >= int64_t(numbers.size()) || spatial[number] != -1)
      return parser.emitError(loc, "expected the spatial dimensions to be numbered 0 to ")
             << int64_t(numbers.size()) - 1 << ", each once";
    spatial[number] = place;
  }
  if (first == -1 || second == -1)
    return parser.emitError(loc, "expected '") << firstLetter << "' and '" << secondLetter << "' among the dimensions";
  return success();
}

void DimensionList::print(AsmPrinter& printer, char firstLetter, int64_t first, char secondLetter, int64_t second,
                          ArrayRef<int64_t> spatial) {
  SmallVector<std::string> names(spatial.size() + 2, "?");
  auto place = [&](int64_t position, std::string name) {
    if (position >= 0 && position < int64_t(names.size())) names[position] = std::move(name);
  };
  place(first, std::string(1, firstLetter));
  place(second, std::string(1, secondLetter));
  for (auto [index, position] : llvm::enumerate(spatial)) place(position, std::to_string(index));
  printer << '[';
  llvm::interleaveComma(names, printer);
  printer << ']';
}

ParseResult parseI64Array(OpAsmParser& parser, DenseI64ArrayAttr& values) {
  values = dyn_cast_or_null<DenseI64ArrayAttr>(DenseI64ArrayAttr::parse(parser, Type()));
  return success(bool(values));
}

/// `[[0, 1], [0, 1]]`
ParseResult parsePadding(OpAsmParser& parser, DenseIntElementsAttr& padding) {
  SmallVector<int64_t> values;
  auto parsePair = [&]() {
    return failure(parser.parseLSquare() || parser.parseInteger(values.emplace_back()) || parser.parseComma() ||
                   parser.parseInteger(values.emplace_back()) || parser.parseRSquare());
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parsePair)) return failure();
  auto type = RankedTensorType::get({int64_t(values.size()) / 2, 2}, parser.getBuilder().getI64Type());
  padding = DenseIntElementsAttr::get(type, values);
  return success();
}

}  // namespace

ParseResult stablehlo::parseConvolutionDimensions(AsmParser& parser, ConvDimensionNumbersAttr& dims) {
  DimensionList input{'b', 'f', -1, -1, {}}, kernel{'i', 'o', -1, -1, {}}, output{'b', 'f', -1, -1, {}};
  if (input.parse(parser) || parser.parseKeyword("x") || kernel.parse(parser) || parser.parseArrow() ||
      output.parse(parser))
    return failure();
  dims = ConvDimensionNumbersAttr::get(parser.getContext(), input.first, input.second, input.spatial, kernel.first,
                                       kernel.second, kernel.spatial, output.first, output.second, output.spatial);
  return success();
}

void stablehlo::printConvolutionDimensions(AsmPrinter& printer, ConvDimensionNumbersAttr dims) {
  DimensionList::print(printer, 'b', dims.getInputBatch(), 'f', dims.getInputFeature(), dims.getInputSpatial());
  printer << 'x';
  DimensionList::print(printer, 'i', dims.getKernelInputFeature(), 'o', dims.getKernelOutputFeature(),
                       dims.getKernelSpatial());
  printer << "->";
  DimensionList::print(printer, 'b', dims.getOutputBatch(), 'f', dims.getOutputFeature(), dims.getOutputSpatial());
}

ParseResult stablehlo::parseConvolutionWindow(OpAsmParser& parser, DenseI64ArrayAttr& strides,
                                              DenseIntElementsAttr& padding, DenseI64ArrayAttr& lhsDilation,
                                              DenseI64ArrayAttr& rhsDilation, DenseBoolArrayAttr& reversal) {
  auto parseField = [&]() -> ParseResult {
    StringRef field;
    SMLoc loc = parser.getCurrentLocation();
    if (parser.parseKeyword(&field) || parser.parseEqual()) return failure();
    if (field == "stride") return parseI64Array(parser, strides);
    if (field == "pad") return parsePadding(parser, padding);
    if (field == "lhs_dilate") return parseI64Array(parser, lhsDilation);
    if (field == "rhs_dilate") return parseI64Array(parser, rhsDilation);
    if (field != "reverse") return parser.emitError(loc, "expected stride, pad, lhs_dilate, rhs_dilate or reverse");
    reversal = dyn_cast_or_null<DenseBoolArrayAttr>(DenseBoolArrayAttr::parse(parser, Type()));
    return success(bool(reversal));
  };
  return parser.parseCommaSeparatedList(AsmParser::Delimiter::Braces, parseField);
}

void stablehlo::printConvolutionWindow(OpAsmPrinter& printer, Operation*, DenseI64ArrayAttr strides,
                                       DenseIntElementsAttr padding, DenseI64ArrayAttr lhsDilation,
                                       DenseI64ArrayAttr rhsDilation, DenseBoolArrayAttr reversal) {
  StringRef separator = "";
  printer << '{';
  auto printField = [&](StringRef name, Attribute value, function_ref<void()> print) {
    if (!value) return;
    printer << separator << name << " = ";
    print();
    separator = ", ";
  };
  printField("stride", strides, [&] { strides.print(printer); });
  printField("pad", padding, [&] {
    SmallVector<int64_t> values(padding.getValues<int64_t>());
    printer << '[';
    llvm::interleaveComma(llvm::seq<size_t>(0, values.size() / 2), printer,
                          [&](size_t i) { printer << '[' << values[2 * i] << ", " << values[2 * i + 1] << ']'; });
    printer << ']';
  });
  printField("lhs_dilate", lhsDilation, [&] { lhsDilation.print(printer); });
  printField("rhs_dilate", rhsDilation, [&] { rhsDilation.print(printer); });
  printField("reverse", reversal, [&] { reversal.print(printer); });
  printer << '}';
}
