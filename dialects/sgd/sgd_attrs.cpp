// Printing, parsing and verification of meshes and shardings; the grammar is Shardy's, with a kind on unreduced axes.
#include "dialects/sgd/roles.h"
#include "dialects/sgd/sgd_dialect.h"

#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/TypeSwitch.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"

using namespace mlir;
using namespace mlir::sgd;

#include "dialects/sgd/sgd_enums.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "dialects/sgd/sgd_attrs.cpp.inc"

void SgdDialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialects/sgd/sgd_attrs.cpp.inc"
      >();
}

// Mesh ----------------------------------------------------------------------------------------------------------------

Attribute MeshAxisAttr::parse(AsmParser& parser, Type) {
  std::string name;
  int64_t size;
  if (parser.parseString(&name) || parser.parseEqual() || parser.parseInteger(size)) return {};
  return MeshAxisAttr::get(parser.getContext(), name, size);
}

void MeshAxisAttr::print(AsmPrinter& printer) const {
  printer.printString(getName());
  printer << "=" << getSize();
}

LogicalResult MeshAttr::verify(function_ref<InFlightDiagnostic()> emitError, ArrayRef<MeshAxisAttr> axes) {
  constexpr int64_t kMaxRanks = int64_t(1) << 20;  // the limit of the artifact's reader
  llvm::StringSet<> names;
  int64_t ranks = 1;
  for (MeshAxisAttr axis : axes) {
    if (axis.getSize() < 1)
      return emitError() << "mesh axis \"" << axis.getName() << "\" has size " << axis.getSize()
                         << "; expected a positive size; correct it";
    if (!names.insert(axis.getName()).second)
      return emitError() << "mesh axis \"" << axis.getName() << "\" is named twice; expected each once; rename one";
    if (axis.getSize() > kMaxRanks / ranks)
      return emitError() << "mesh has more than " << kMaxRanks << " ranks; expected at most " << kMaxRanks
                         << "; correct the sizes";
    ranks *= axis.getSize();
  }
  return success();
}

std::optional<int64_t> MeshAttr::getAxisSize(StringRef name) const {
  for (MeshAxisAttr axis : getAxes())
    if (axis.getName() == name) return axis.getSize();
  return std::nullopt;
}

std::optional<unsigned> MeshAttr::getAxisIndex(StringRef name) const {
  for (auto [index, axis] : llvm::enumerate(getAxes()))
    if (axis.getName() == name) return index;
  return std::nullopt;
}

int64_t MeshAttr::getNumRanks() const {
  int64_t ranks = 1;
  for (MeshAxisAttr axis : getAxes()) ranks *= axis.getSize();
  return ranks;
}

// Ranges
// ---------------------------------------------------------------------------------------------------------------

LogicalResult RangeAttr::verify(function_ref<InFlightDiagnostic()> emitError, int64_t dim, int64_t size, int64_t scale,
                                int64_t offset, int64_t divisor, int64_t step) {
  // The limits of the artifact's reader, within which positions on up to 2^20 ranks are exact.
  constexpr int64_t kMaxNumber = int64_t(1) << 48, kMaxScale = int64_t(1) << 40, kMaxOffset = int64_t(1) << 60;
  if (dim < 0) return emitError() << "a range along dimension " << dim;
  if (size < 0 || size > kMaxNumber) return emitError() << "a range of a dimension of size " << size;
  if (divisor < 1 || divisor > kMaxNumber || step < 1 || step > kMaxNumber)
    return emitError() << "a range with the divisor " << divisor << " and the step " << step
                       << ", which must be between 1 and 2^48";
  if (scale < -kMaxScale || scale > kMaxScale || offset < -kMaxOffset || offset > kMaxOffset)
    return emitError() << "a range that begins at (" << scale << " * j + " << offset << ") / " << divisor
                       << ", beyond what can be addressed";
  return success();
}

// Axis references and dimension shardings
// -------------------------------------------------------------------------------

Attribute AxisRefAttr::parse(AsmParser& parser, Type) {
  std::string name;
  if (parser.parseString(&name)) return {};
  int64_t preSize = 0, size = 0;
  if (succeeded(parser.parseOptionalColon())) {
    llvm::SMLoc loc = parser.getCurrentLocation();
    if (parser.parseLParen() || parser.parseInteger(preSize) || parser.parseRParen() || parser.parseInteger(size))
      return {};
    if (preSize < 1 || size < 2) {
      parser.emitError(loc,
                       "sub-axis has no positive pre-size and size above 1; expected such as \"x\":(1)2; correct it");
      return {};
    }
  }
  return AxisRefAttr::get(parser.getContext(), name, preSize, size);
}

void AxisRefAttr::print(AsmPrinter& printer) const {
  printer.printString(getName());
  if (!isWholeAxis()) printer << ":(" << getPreSize() << ")" << getSize();
}

int64_t AxisRefAttr::getNumShards(MeshAttr mesh) const {
  return isWholeAxis() ? mesh.getAxisSize(getName()).value_or(1) : getSize();
}

static ParseResult parseAxisRef(AsmParser& parser, SmallVectorImpl<AxisRefAttr>& axes) {
  auto axis = dyn_cast_or_null<AxisRefAttr>(AxisRefAttr::parse(parser, {}));
  if (!axis) return failure();
  axes.push_back(axis);
  return success();
}

Attribute DimShardingAttr::parse(AsmParser& parser, Type) {
  SmallVector<AxisRefAttr> axes;
  bool isOpen = false;
  auto parseItem = [&]() -> ParseResult {
    if (isOpen)
      return parser.emitError(parser.getCurrentLocation(), "'?' stands before an axis; expected it last; move it");
    if (succeeded(parser.parseOptionalQuestion())) {
      isOpen = true;
      return success();
    }
    return parseAxisRef(parser, axes);
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Braces, parseItem)) return {};
  std::optional<int64_t> priority;
  StringRef keyword;
  if (succeeded(parser.parseOptionalKeyword(&keyword))) {
    int64_t value;
    if (!keyword.consume_front("p") || keyword.getAsInteger(10, value)) {
      parser.emitError(parser.getCurrentLocation(), "expected a priority such as p1");
      return {};
    }
    priority = value;
  }
  return DimShardingAttr::get(parser.getContext(), axes, isOpen, priority);
}

void DimShardingAttr::print(AsmPrinter& printer) const {
  printer << "{";
  llvm::interleaveComma(getAxes(), printer, [&](AxisRefAttr axis) { axis.print(printer); });
  if (getIsOpen()) printer << (getAxes().empty() ? "?" : ", ?");
  printer << "}";
  if (getPriority()) printer << "p" << *getPriority();
}

// Sharding ------------------------------------------------------------------------------------------------------------

static ParseResult parseAxes(AsmParser& parser, SmallVectorImpl<AxisRefAttr>& axes) {
  return parser.parseCommaSeparatedList(AsmParser::Delimiter::Braces, [&] { return parseAxisRef(parser, axes); });
}

static ParseResult parseUnreduced(AsmParser& parser, SmallVectorImpl<AxisRefAttr>& axes, ReduceKind& kind) {
  StringRef keyword;
  if (parser.parseEqual()) return failure();
  if (succeeded(parser.parseOptionalKeyword(&keyword))) {
    auto parsed = symbolizeReduceKind(keyword);
    if (!parsed)
      return parser.emitError(parser.getCurrentLocation(), "unknown reduction '")
             << keyword << "'; expected add, mul, max, min, umax, umin, and, or or xor; correct it";
    kind = *parsed;
  }
  return parseAxes(parser, axes);
}

Attribute ShardingAttr::parse(AsmParser& parser, Type) {
  FlatSymbolRefAttr mesh;
  SmallVector<DimShardingAttr> dims;
  SmallVector<AxisRefAttr> replicated, unreduced;
  ReduceKind kind = ReduceKind::Add;
  auto parseDim = [&]() -> ParseResult {
    auto dim = dyn_cast_or_null<DimShardingAttr>(DimShardingAttr::parse(parser, {}));
    if (!dim) return failure();
    dims.push_back(dim);
    return success();
  };
  if (parser.parseLess() || parser.parseAttribute(mesh) || parser.parseComma() ||
      parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseDim))
    return {};
  while (succeeded(parser.parseOptionalComma())) {
    if (succeeded(parser.parseOptionalKeyword("replicated"))) {
      if (parser.parseEqual() || parseAxes(parser, replicated)) return {};
    } else if (parser.parseKeyword("unreduced") || parseUnreduced(parser, unreduced, kind)) {
      return {};
    }
  }
  if (parser.parseGreater()) return {};
  return ShardingAttr::get(parser.getContext(), mesh, dims, replicated, unreduced, kind);
}

static void printAxes(AsmPrinter& printer, ArrayRef<AxisRefAttr> axes) {
  printer << "{";
  llvm::interleaveComma(axes, printer, [&](AxisRefAttr axis) { axis.print(printer); });
  printer << "}";
}

void ShardingAttr::print(AsmPrinter& printer) const {
  printer << "<" << getMesh() << ", [";
  llvm::interleaveComma(getDims(), printer, [&](DimShardingAttr dim) { dim.print(printer); });
  printer << "]";
  if (!getReplicated().empty()) {
    printer << ", replicated=";
    printAxes(printer, getReplicated());
  }
  if (isPartial()) {
    printer << ", unreduced=";
    if (getUnreducedKind() != ReduceKind::Add) printer << stringifyReduceKind(getUnreducedKind());
    printAxes(printer, getUnreduced());
  }
  printer << ">";
}

bool ShardingAttr::isFullyReplicated() const {
  return !isPartial() && llvm::all_of(getDims(), [](DimShardingAttr dim) { return dim.getAxes().empty(); });
}

ShardingAttr ShardingAttr::getReplicated(MLIRContext* context, FlatSymbolRefAttr mesh, int64_t rank) {
  SmallVector<DimShardingAttr> dims(rank, DimShardingAttr::get(context, {}, /*isOpen=*/false, std::nullopt));
  return get(context, mesh, dims, {}, {}, ReduceKind::Add);
}

int64_t ShardingAttr::getNumShards(int64_t dim, MeshAttr mesh) const {
  int64_t shards = 1;
  for (AxisRefAttr axis : getDims()[dim].getAxes()) shards *= axis.getNumShards(mesh);
  return shards;
}

SmallVector<int64_t> ShardingAttr::getLocalShape(ArrayRef<int64_t> globalShape, MeshAttr mesh) const {
  SmallVector<int64_t> shape(globalShape);
  for (int64_t dim = 0; dim < getRank(); ++dim) {
    int64_t shards = getNumShards(dim, mesh);
    shape[dim] = (shape[dim] + shards - 1) / shards;
  }
  return shape;
}

/// Adds the part of its axis that `ref` covers to `used`; fails when it is unknown, does not divide, or overlaps an
/// earlier part.
static LogicalResult claimAxis(MeshAttr mesh, AxisRefAttr ref, SmallVectorImpl<AxisRefAttr>& used,
                               function_ref<InFlightDiagnostic()> emitError) {
  std::optional<int64_t> size = mesh.getAxisSize(ref.getName());
  if (!size)
    return emitError() << "sharding names the unknown axis \"" << ref.getName() << "\"; the mesh is " << mesh
                       << "; expected one of its axes; correct the name";
  int64_t begin = ref.isWholeAxis() ? 1 : ref.getPreSize();
  int64_t end = ref.isWholeAxis() ? *size : ref.getPreSize() * ref.getSize();
  if (*size % end != 0)
    return emitError() << "sub-axis " << ref << " does not divide axis \"" << ref.getName() << "\" of size " << *size
                       << "; expected sizes whose product divides it; correct the sub-axis";
  for (AxisRefAttr other : used) {
    if (other.getName() != ref.getName()) continue;
    int64_t otherBegin = other.isWholeAxis() ? 1 : other.getPreSize();
    int64_t otherEnd = other.isWholeAxis() ? *size : other.getPreSize() * other.getSize();
    if (begin < otherEnd && otherBegin < end)
      return emitError() << "sharding uses axis \"" << ref.getName() << "\" twice; expected each once; drop one";
    if (begin % otherEnd != 0 && otherBegin % end != 0)
      return emitError() << "sharding uses sub-axes of different divisions of axis \"" << ref.getName() << "\" of size "
                         << *size << ": (" << otherBegin << ")" << otherEnd / otherBegin << " and (" << begin << ")"
                         << end / begin << "; expected sub-axes that nest; correct one of them";
  }
  used.push_back(ref);
  return success();
}

LogicalResult ShardingAttr::verifyAgainst(MeshAttr mesh, ArrayRef<int64_t> shape,
                                          function_ref<InFlightDiagnostic()> emitError) const {
  if (getRank() != static_cast<int64_t>(shape.size()))
    return emitError() << "sharding has " << getRank() << " dimensions, the tensor has " << shape.size()
                       << "; expected one entry per dimension; give as many";
  SmallVector<AxisRefAttr> used;
  auto claim = [&](ArrayRef<AxisRefAttr> axes) {
    return success(
        llvm::all_of(axes, [&](AxisRefAttr axis) { return succeeded(claimAxis(mesh, axis, used, emitError)); }));
  };
  for (DimShardingAttr dim : getDims())
    if (failed(claim(dim.getAxes()))) return failure();
  return success(succeeded(claim(getReplicated())) && succeeded(claim(getUnreduced())));
}

LogicalResult ShardingAttr::verifyEncoding(ArrayRef<int64_t> shape, Type,
                                           function_ref<InFlightDiagnostic()> emitError) const {
  if (getRank() != static_cast<int64_t>(shape.size()))
    return emitError() << "sharding has " << getRank() << " dimensions, the tensor has " << shape.size()
                       << "; expected one entry per dimension; give as many";
  return success();
}
