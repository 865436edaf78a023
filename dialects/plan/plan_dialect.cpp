// Registration of the plan dialect, its attributes and the properties of buffer types.
#include "dialects/plan/plan_dialect.h"

#include "dialects/plan/attention.h"
#include "dialects/plan/host_call.h"
#include "dialects/plan/host_copy.h"
#include "dialects/plan/linear_algebra.h"
#include "dialects/plan/work.h"

#include "llvm/ADT/TypeSwitch.h"
#include "mlir/IR/DialectImplementation.h"

using namespace mlir;
using namespace mlir::plan;

#include "dialects/plan/plan_dialect.cpp.inc"
#include "dialects/plan/plan_enums.cpp.inc"

namespace mlir {
/// By the names of runtime/comm/collectives/collective_kind.h.
template <>
struct FieldParser<CollectiveKind> {
  static FailureOr<CollectiveKind> parse(AsmParser& parser) {
    SMLoc loc = parser.getCurrentLocation();
    StringRef name;
    if (parser.parseKeyword(&name)) return failure();
    for (const ::sgd::comm::CollectiveTraits& traits : ::sgd::comm::kCollectives)
      if (name == traits.name) return traits.kind;
    InFlightDiagnostic error = parser.emitError(loc) << "unknown kind of collective '" << name << "'; expected ";
    llvm::interleaveComma(::sgd::comm::kCollectives, error, [&](const auto& traits) { error << traits.name; });
    return error;
  }
};
static AsmPrinter& operator<<(AsmPrinter& printer, CollectiveKind kind) {
  return printer << ::sgd::comm::CollectiveName(kind);
}

/// "vector single 128, read 512, written 512": a number that is left out is zero.
template <>
struct FieldParser<mlir::sgd::Work> {
  static FailureOr<mlir::sgd::Work> parse(AsmParser& parser) {
    mlir::sgd::Work work;
    auto parseItem = [&]() -> ParseResult {
      SMLoc loc = parser.getCurrentLocation();
      StringRef name, precision;
      int64_t number = 0;
      if (parser.parseKeyword(&name)) return failure();
      if (name == "read" || name == "written") {
        if (parser.parseInteger(number)) return failure();
        (name == "read" ? work.readBytes : work.writtenBytes) += static_cast<double>(number);
        return success();
      }
      std::optional<mlir::sgd::OperationKind> kind = mlir::sgd::findOperationKind(name);
      if (!kind) return parser.emitError(loc) << "unknown kind of operations '" << name << "'";
      if (parser.parseKeyword(&precision) || parser.parseInteger(number)) return failure();
      std::optional<mlir::sgd::Precision> found = mlir::sgd::findPrecision(precision);
      if (!found) return parser.emitError(loc) << "unknown precision '" << precision << "'";
      work.add(*kind, *found, static_cast<double>(number));
      return success();
    };
    if (parser.parseCommaSeparatedList(parseItem)) return failure();
    return work;
  }
};
static AsmPrinter& operator<<(AsmPrinter& printer, const mlir::sgd::Work& work) {
  for (size_t kind = 0; kind < mlir::sgd::kNumOperationKinds; ++kind)
    for (size_t precision = 0; precision < mlir::sgd::kNumPrecisions; ++precision)
      if (double count = work.get(mlir::sgd::OperationKind(kind), mlir::sgd::Precision(precision)); count > 0)
        printer << mlir::sgd::kOperationNames[kind] << " " << mlir::sgd::kPrecisionNames[precision] << " "
                << static_cast<int64_t>(count) << ", ";
  return printer << "read " << static_cast<int64_t>(work.readBytes) << ", written "
                 << static_cast<int64_t>(work.writtenBytes);
}
}  // namespace mlir

#define GET_ATTRDEF_CLASSES
#include "dialects/plan/plan_attrs.cpp.inc"

#define GET_TYPEDEF_CLASSES
#include "dialects/plan/plan_types.cpp.inc"

void PlanDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialects/plan/plan_attrs.cpp.inc"
      >();
  addTypes<
#define GET_TYPEDEF_LIST
#include "dialects/plan/plan_types.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialects/plan/plan_ops.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialects/plan/attention_ops.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialects/plan/host_copy_ops.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialects/plan/linear_algebra_ops.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialects/plan/host_call_ops.cpp.inc"
      >();
  attachWork(*getContext());
}

Attribute TensorAttr::parse(AsmParser& parser, Type) {
  SmallVector<int64_t> shape;
  auto parseSize = [&] { return parser.parseInteger(shape.emplace_back()); };
  if (parser.parseLess() || parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseSize)) return {};
  mlir::sgd::ShardingAttr sharding;
  bool isUnsigned = false;
  while (succeeded(parser.parseOptionalComma())) {
    if (succeeded(parser.parseOptionalKeyword("unsigned"))) {
      isUnsigned = true;
    } else if (parser.parseAttribute(sharding)) {
      return {};
    }
  }
  if (parser.parseGreater()) return {};
  return TensorAttr::get(parser.getContext(), shape, sharding, isUnsigned);
}

void TensorAttr::print(AsmPrinter& printer) const {
  printer << "<[";
  llvm::interleaveComma(getGlobalShape(), printer);
  printer << "]";
  if (getSharding()) printer << ", " << getSharding();
  if (getIsUnsigned()) printer << ", unsigned";
  printer << ">";
}

bool mlir::plan::isBuffer(Type type) {
  auto memref = dyn_cast<MemRefType>(type);
  return memref && memref.hasStaticShape() && memref.getLayout().isIdentity() &&
         isa_and_nonnull<SpaceAttr>(memref.getMemorySpace()) && memref.getElementType().isIntOrFloat();
}

MemRefType mlir::plan::getBufferType(RankedTensorType tensor, Space space) {
  return MemRefType::get(tensor.getShape(), tensor.getElementType(), MemRefLayoutAttrInterface(),
                         SpaceAttr::get(tensor.getContext(), space));
}

Space mlir::plan::getSpace(Type bufferType) {
  return cast<SpaceAttr>(cast<MemRefType>(bufferType).getMemorySpace()).getValue();
}

BufferRoot mlir::plan::getRoot(Value buffer) {
  BufferRoot result{buffer, 0};
  while (auto view = result.root.getDefiningOp<ViewOp>()) {
    result.byteOffset += view.getByteOffset();
    result.root = view.getSource();
  }
  return result;
}
