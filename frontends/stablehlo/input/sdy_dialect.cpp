// The dialect `sdy`: syntax of meshes and shardings, and verifiers of what needs no look-up of the
// mesh.
#include "frontends/stablehlo/input/sdy_dialect.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::sdy;

#include "frontends/stablehlo/input/sdy_dialect.cpp.inc"

namespace {

/// `{"x", "y":(1)2}`
ParseResult parseAxes(AsmParser& parser, SmallVectorImpl<AxisRefAttr>& axes, bool* isOpen = nullptr) {
  return parser.parseCommaSeparatedList(AsmParser::Delimiter::Braces, [&]() -> ParseResult {
    if (isOpen && !*isOpen && succeeded(parser.parseOptionalQuestion())) {
      *isOpen = true;
      return success();
    }
    if (isOpen && *isOpen) return parser.emitError(parser.getCurrentLocation(), "'?' must come last");
    axes.push_back(dyn_cast_or_null<AxisRefAttr>(AxisRefAttr::parse(parser, Type())));
    return success(bool(axes.back()));
  });
}

void printAxes(AsmPrinter& printer, ArrayRef<AxisRefAttr> axes) {
  llvm::interleaveComma(axes, printer, [&](AxisRefAttr axis) { axis.print(printer); });
}

/// `p2` after a dimension's braces.
ParseResult parsePriority(AsmParser& parser, std::optional<int64_t>& priority) {
  StringRef keyword;
  SMLoc loc = parser.getCurrentLocation();
  if (failed(parser.parseOptionalKeyword(&keyword))) return success();
  int64_t value;
  if (!keyword.consume_front("p") || keyword.getAsInteger(10, value))
    return parser.emitError(loc, "expected a priority such as p0");
  priority = value;
  return success();
}

}  // namespace

Attribute MeshAttr::parse(AsmParser& parser, Type) {
  SmallVector<StringAttr> names;
  SmallVector<int64_t> sizes, deviceIds;
  auto parseAxis = [&]() -> ParseResult {
    std::string name;
    SMLoc loc = parser.getCurrentLocation();
    if (parser.parseString(&name) || parser.parseEqual() || parser.parseInteger(sizes.emplace_back())) return failure();
    names.push_back(parser.getBuilder().getStringAttr(name));
    if (sizes.back() < 1) return parser.emitError(loc, "expected a positive size of axis \"") << name << "\"";
    if (llvm::count(names, names.back()) > 1)
      return parser.emitError(loc, "axis \"") << name << "\" is named twice; expected each once; rename one";
    return success();
  };
  if (parser.parseLess() || parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseAxis)) return {};
  if (succeeded(parser.parseOptionalComma()))
    if (parser.parseKeyword("device_ids") || parser.parseEqual() ||
        parser.parseCommaSeparatedList(AsmParser::Delimiter::Square,
                                       [&] { return parser.parseInteger(deviceIds.emplace_back()); }))
      return {};
  return parser.parseGreater() ? Attribute() : get(parser.getContext(), names, sizes, deviceIds);
}

void MeshAttr::print(AsmPrinter& printer) const {
  printer << "<[";
  llvm::interleaveComma(llvm::zip_equal(getNames(), getSizes()), printer,
                        [&](auto axis) { printer << std::get<0>(axis) << '=' << std::get<1>(axis); });
  printer << ']';
  if (!getDeviceIds().empty()) {
    printer << ", device_ids=[";
    llvm::interleaveComma(getDeviceIds(), printer);
    printer << ']';
  }
  printer << '>';
}

Attribute AxisRefAttr::parse(AsmParser& parser, Type) {
  std::string name;
  int64_t preSize = 0, size = 0;
  if (parser.parseString(&name)) return {};
  SMLoc loc = parser.getCurrentLocation();
  if (succeeded(parser.parseOptionalColon())) {
    if (parser.parseLParen() || parser.parseInteger(preSize) || parser.parseRParen() || parser.parseInteger(size))
      return {};
    if (preSize < 1 || size < 2) {
      parser.emitError(loc, "expected a sub-axis such as \"x\":(1)2, its size at least 2");
      return {};
    }
  }
  return get(parser.getContext(), name, preSize, size);
}

void AxisRefAttr::print(AsmPrinter& printer) const {
  printer << '"';
  llvm::printEscapedString(getName(), printer.getStream());
  printer << '"';
  if (getSize()) printer << ":(" << getPreSize() << ')' << getSize();
}

Attribute DimShardingAttr::parse(AsmParser& parser, Type) {
  SmallVector<AxisRefAttr> axes;
  bool isOpen = false;
  std::optional<int64_t> priority;
  if (parseAxes(parser, axes, &isOpen) || parsePriority(parser, priority)) return {};
  return get(parser.getContext(), axes, isOpen, priority);
}

void DimShardingAttr::print(AsmPrinter& printer) const {
  printer << '{';
  printAxes(printer, getAxes());
  if (getIsOpen()) printer << (getAxes().empty() ? "?" : ", ?");
  printer << '}';
  if (getPriority()) printer << 'p' << *getPriority();
}

Attribute ShardingAttr::parse(AsmParser& parser, Type) {
  FlatSymbolRefAttr name;
  Attribute mesh;
  SmallVector<DimShardingAttr> dims;
  SmallVector<AxisRefAttr> replicated, unreduced;
  auto parseDim = [&]() -> ParseResult {
    dims.push_back(dyn_cast_or_null<DimShardingAttr>(DimShardingAttr::parse(parser, Type())));
    return success(bool(dims.back()));
  };
  if (parser.parseLess()) return {};
  if (succeeded(parser.parseOptionalKeyword("mesh")))
    mesh = MeshAttr::parse(parser, Type());
  else if (succeeded(parser.parseAttribute(name)))
    mesh = name;
  if (!mesh || parser.parseComma() || parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseDim)) return {};
  while (succeeded(parser.parseOptionalComma())) {
    StringRef field;
    SMLoc loc = parser.getCurrentLocation();
    if (parser.parseKeyword(&field) || parser.parseEqual()) return {};
    if (field != "replicated" && field != "unreduced") {
      parser.emitError(loc, "expected replicated or unreduced");
      return {};
    }
    if (parseAxes(parser, field == "replicated" ? replicated : unreduced)) return {};
  }
  return parser.parseGreater() ? Attribute() : get(parser.getContext(), mesh, dims, replicated, unreduced);
}

void ShardingAttr::print(AsmPrinter& printer) const {
  printer << '<';
  if (auto inlined = dyn_cast<MeshAttr>(getMesh())) {
    printer << "mesh";
    inlined.print(printer);
  } else {
    printer << getMesh();
  }
  printer << ", [";
  llvm::interleaveComma(getDims(), printer, [&](DimShardingAttr dim) { dim.print(printer); });
  printer << ']';
  auto printField = [&](StringRef name, ArrayRef<AxisRefAttr> axes) {
    if (axes.empty()) return;
    printer << ", " << name << "={";
    printAxes(printer, axes);
    printer << '}';
  };
  printField("replicated", getReplicated());
  printField("unreduced", getUnreduced());
  printer << '>';
}

/// `[<@mesh, [{}]>, ...]`
static ParseResult parseShardings(AsmParser& parser, ShardingPerValueAttr& shardings) {
  SmallVector<ShardingAttr> values;
  auto parseOne = [&]() -> ParseResult {
    values.push_back(dyn_cast_or_null<ShardingAttr>(ShardingAttr::parse(parser, Type())));
    return success(bool(values.back()));
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseOne)) return failure();
  shardings = ShardingPerValueAttr::get(parser.getContext(), values);
  return success();
}

static void printShardings(AsmPrinter& printer, ShardingPerValueAttr shardings) {
  printer << '[';
  llvm::interleaveComma(shardings.getShardings(), printer, [&](ShardingAttr sharding) { sharding.print(printer); });
  printer << ']';
}

static void printShardings(OpAsmPrinter& printer, Operation*, ShardingPerValueAttr shardings) {
  printShardings(static_cast<AsmPrinter&>(printer), shardings);
}

Attribute ShardingPerValueAttr::parse(AsmParser& parser, Type) {
  ShardingPerValueAttr shardings;
  if (parser.parseLess() || parseShardings(parser, shardings) || parser.parseGreater()) return {};
  return shardings;
}

void ShardingPerValueAttr::print(AsmPrinter& printer) const {
  printer << '<';
  printShardings(printer, *this);
  printer << '>';
}

Attribute ManualAxesAttr::parse(AsmParser& parser, Type) {
  SmallVector<StringAttr> names;
  auto parseName = [&]() -> ParseResult {
    std::string name;
    if (parser.parseString(&name)) return failure();
    names.push_back(parser.getBuilder().getStringAttr(name));
    return success();
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Braces, parseName)) return {};
  return get(parser.getContext(), names);
}

void ManualAxesAttr::print(AsmPrinter& printer) const {
  printer << '{';
  llvm::interleaveComma(getNames(), printer);
  printer << '}';
}

// `<([i, j])->([k]) {i=4, j=4}, reduction={j}, custom>`; a factor is a word such as `ij` or `z_1`.
Attribute OpShardingRuleAttr::parse(AsmParser& parser, Type) {
  std::string text = static_cast<DialectAsmParser&>(parser).getFullSymbolSpec().str();
  using Delimiter = AsmParser::Delimiter;
  StringRef word;
  auto parseWord = [&] { return parser.parseKeyword(&word); };
  auto parseDims = [&] { return parser.parseCommaSeparatedList(Delimiter::Square, parseWord); };
  auto parseValues = [&] { return parser.parseCommaSeparatedList(Delimiter::Paren, parseDims); };
  auto parseSize = [&] {
    int64_t size;
    return failure(parseWord() || parser.parseEqual() || parser.parseInteger(size));
  };
  if (parser.parseLess() || parseValues() || parser.parseArrow() || parseValues() ||
      parser.parseCommaSeparatedList(Delimiter::OptionalBraces, parseSize))
    return {};
  while (succeeded(parser.parseOptionalComma()))
    if (parseWord() ||
        (succeeded(parser.parseOptionalEqual()) && parser.parseCommaSeparatedList(Delimiter::Braces, parseWord)))
      return {};
  if (parser.parseGreater()) return {};
  return get(parser.getContext(), StringRef(text).drop_until([](char c) { return c == '<'; }));
}

void OpShardingRuleAttr::print(AsmPrinter& printer) const { printer << getText(); }

static ParseResult parseOneType(OpAsmParser& parser, Type& input, Type& result) {
  if (parser.parseType(input)) return failure();
  result = input;
  return success();
}

static void printOneType(OpAsmPrinter& printer, Operation*, Type input, Type) { printer << input; }

/// `(%arg: type, ...) { ... }`
static ParseResult parseManualBody(OpAsmParser& parser, Region& body) {
  SmallVector<OpAsmParser::Argument> arguments;
  if (parser.parseArgumentList(arguments, AsmParser::Delimiter::Paren, /*allowType=*/true)) return failure();
  return parser.parseRegion(body, arguments);
}

static void printManualBody(OpAsmPrinter& printer, Operation*, Region& body) {
  printer << '(';
  llvm::interleaveComma(body.getArguments(), printer,
                        [&](BlockArgument argument) { printer.printRegionArgument(argument); });
  printer << ") ";
  printer.printRegion(body, /*printEntryBlockArgs=*/false);
}

LogicalResult MeshOp::verify() {
  int64_t devices = 1;
  for (int64_t size : getMesh().getSizes())
    if (llvm::MulOverflow(devices, size, devices))
      return emitOpError("has more devices than 2^63 - 1; expected a mesh of real devices; correct the sizes");
  size_t ids = getMesh().getDeviceIds().size();
  if (ids && int64_t(ids) != devices)
    return emitOpError("lists ") << ids << " device ids for " << devices
                                 << " devices; expected one for each, or none; correct device_ids";
  return success();
}

LogicalResult ManualComputationOp::verify() {
  size_t inputs = getTensors().size();
  if (getInShardings().getShardings().size() != inputs || getBody().getNumArguments() != inputs)
    return emitOpError("has ") << getInShardings().getShardings().size() << " in_shardings and "
                               << getBody().getNumArguments() << " block arguments; expected " << inputs
                               << " of both, one per operand; give as many";
  if (getOutShardings().getShardings().size() != getNumResults())
    return emitOpError("has ") << getOutShardings().getShardings().size() << " out_shardings; expected "
                               << getNumResults() << ", one per result; give as many";
  return success();
}

#define GET_ATTRDEF_CLASSES
#include "frontends/stablehlo/input/sdy_attrs.cpp.inc"

#define GET_OP_CLASSES
#include "frontends/stablehlo/input/sdy_ops.cpp.inc"

void SdyDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "frontends/stablehlo/input/sdy_attrs.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "frontends/stablehlo/input/sdy_ops.cpp.inc"
      >();
}
