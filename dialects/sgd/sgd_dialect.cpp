// Registration of the graph-level dialect and verification of its discardable attributes.
#include "dialects/sgd/sgd_dialect.h"

#include "dialects/sgd/complex_pairs.h"
#include "dialects/sgd/compression.h"
#include "dialects/sgd/grouped_dot.h"
#include "dialects/sgd/host_call.h"
#include "dialects/sgd/input_attrs.h"
#include "dialects/sgd/linear_algebra.h"
#include "dialects/sgd/roles.h"
#include "dialects/sgd/stage_rows.h"
#include "dialects/sgd/stages.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Transforms/InliningUtils.h"

using namespace mlir;
using namespace mlir::sgd;

#include "dialects/sgd/sgd_dialect.cpp.inc"

namespace {
struct SgdInliner : DialectInlinerInterface {
  using DialectInlinerInterface::DialectInlinerInterface;
  bool isLegalToInline(Operation*, Region*, bool, IRMapping&) const final { return true; }
  bool isLegalToInline(Region*, Region*, bool, IRMapping&) const final { return true; }
};

/// Ranges of rows: in ascending order, none of them empty.
bool areRows(Attribute attribute) {
  auto rows = dyn_cast<DenseI64ArrayAttr>(attribute);
  if (!rows || rows.empty() || rows.size() % 2 != 0) return false;
  constexpr int64_t kMostRows = int64_t{1} << 62;
  int64_t next = 0;
  for (int64_t range = 0; range < rows.size(); range += 2) {
    if (rows[range] < next || rows[range + 1] < 1 || rows[range] > kMostRows || rows[range + 1] > kMostRows)
      return false;
    next = rows[range] + rows[range + 1];
  }
  return true;
}

LogicalResult verifyArgumentAttribute(Operation* op, NamedAttribute attribute, Type type) {
  StringRef name = attribute.getName();
  if (name == kShardingAttr) {
    auto sharding = dyn_cast<ShardingAttr>(attribute.getValue());
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (!sharding || !tensor) return op->emitOpError() << "'" << name << "' expects #sgd.sharding on a ranked tensor";
    MeshAttr mesh = lookupMesh(op, sharding.getMesh());
    if (!mesh) return op->emitOpError() << "'" << name << "' names the unknown mesh " << sharding.getMesh();
    return sharding.verifyAgainst(mesh, tensor.getShape(), [&] { return op->emitOpError(); });
  }
  if (name == kComplexAttr) {
    auto shaped = dyn_cast<ShapedType>(type);  // a tensor, or the buffer that it has become
    bool holdsPairs =
        shaped && shaped.getElementType().isF32() && shaped.getRank() > 0 && shaped.getShape().back() == 2;
    if (!holdsPairs || !isa<UnitAttr>(attribute.getValue()))
      return op->emitOpError() << "'" << name << "' expects unit on f32 whose last dimension is 2";
    return success();
  }
  if (name == kSummandsAttr) {
    auto shaped = dyn_cast<ShapedType>(type);
    if (!shaped || shaped.getRank() == 0 || !isa<UnitAttr>(attribute.getValue()))
      return op->emitOpError() << "'" << name << "' expects unit on a tensor with a dimension";
    return success();
  }
  if (name == kNameAttr && !isa<StringAttr>(attribute.getValue()))
    return op->emitOpError() << "'" << name << "' expects a string";
  if (name == kInitAttr && !isa<StringAttr>(attribute.getValue()))
    return op->emitOpError() << "'" << name << "' expects a string, \"normal(0, 0.02)\"";
  if (name == kAliasesAttr) {
    auto names = dyn_cast<ArrayAttr>(attribute.getValue());
    if (!names || !llvm::all_of(names, [](Attribute one) { return isa<StringAttr>(one); }))
      return op->emitOpError() << "'" << name << "' expects a list of strings";
  }
  if (name == kAliasOutputAttr && !isa<IntegerAttr>(attribute.getValue()))
    return op->emitOpError() << "'" << name << "' expects an integer";
  if (name == kNarrowBitsAttr) {
    auto bits = dyn_cast<IntegerAttr>(attribute.getValue());
    auto shaped = dyn_cast<ShapedType>(type);
    if (!bits || (bits.getInt() != 2 && bits.getInt() != 4) || !shaped || !shaped.getElementType().isInteger(8))
      return op->emitOpError() << "'" << name << "' expects 2 or 4 on integers of 8 bits";
  }
  if (name == kRowsAttr || name == kWholeAttr) {
    auto shaped = dyn_cast<ShapedType>(type);
    auto numbers = dyn_cast<DenseI64ArrayAttr>(attribute.getValue());
    bool isWhole = numbers && numbers.size() == 2 && numbers[0] >= 0 && numbers[1] >= -1;
    if (!shaped || (name == kRowsAttr ? shaped.getRank() == 0 || !areRows(attribute.getValue()) : !isWhole))
      return op->emitOpError() << "'" << name << "' is " << attribute.getValue()
                               << (name == kRowsAttr ? "; expected pairs of a first row and a number of rows, in order"
                                                     : "; expected a position and a number of rows");
  }
  if (name == kStageAttr) {
    auto stage = dyn_cast<IntegerAttr>(attribute.getValue());
    if (!stage || !stage.getValue().sge(0))
      return op->emitOpError() << "'" << name << "' expects the number of a stage";
  }
  if ((name == kUnsignedAttr || name == kDonatedAttr) && !isa<UnitAttr>(attribute.getValue()))
    return op->emitOpError() << "'" << name << "' expects unit";
  return success();
}
}  // namespace

void SgdDialect::initialize() {
  registerAttributes();
  addOperations<
#define GET_OP_LIST
#include "dialects/sgd/sgd_ops.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialects/sgd/grouped_dot_ops.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialects/sgd/compression_ops.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialects/sgd/linear_algebra_ops.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialects/sgd/host_call_ops.cpp.inc"
      >();
  addInterfaces<SgdInliner>();
  attachLinearModels(*getContext());
}

LogicalResult SgdDialect::verifyRegionArgAttribute(Operation* op, unsigned, unsigned arg, NamedAttribute attribute) {
  auto function = dyn_cast<FunctionOpInterface>(op);
  if (!function) return success();
  if (attribute.getName() == kRoleAttr) return verifyArgumentRole(function, arg, attribute.getValue());
  return verifyArgumentAttribute(op, attribute, function.getArgumentTypes()[arg]);
}

LogicalResult SgdDialect::verifyRegionResultAttribute(Operation* op, unsigned, unsigned result,
                                                      NamedAttribute attribute) {
  auto function = dyn_cast<FunctionOpInterface>(op);
  if (!function) return success();
  if (attribute.getName() == kRoleAttr) return verifyResultRole(function, result, attribute.getValue());
  return verifyArgumentAttribute(op, attribute, function.getResultTypes()[result]);
}

MeshOp mlir::sgd::getMesh(ModuleOp module) {
  auto meshes = module.getOps<MeshOp>();
  return meshes.empty() ? MeshOp() : *meshes.begin();
}

MeshAttr mlir::sgd::lookupMesh(Operation* from, FlatSymbolRefAttr name) {
  auto mesh = SymbolTable::lookupNearestSymbolFrom<MeshOp>(from, name);
  return mesh ? mesh.getMesh() : MeshAttr();
}

ShardingAttr mlir::sgd::getSharding(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor ? dyn_cast_or_null<ShardingAttr>(tensor.getEncoding()) : ShardingAttr();
}

RankedTensorType mlir::sgd::withSharding(RankedTensorType type, ShardingAttr sharding) {
  return RankedTensorType::get(type.getShape(), type.getElementType(), sharding);
}
