// Modules, functions, blocks and locations.
#include "frontends/stablehlo/export/export.h"

#include "frontends/stablehlo/elementwise_table.h"
#include "frontends/stablehlo/export/op_export.h"
#include "frontends/stablehlo/import.h"
#include "frontends/stablehlo/input/chlo_dialect.h"
#include "mlir/IR/Verifier.h"

namespace mlir::sgd {
#define GEN_PASS_DEF_EXPORTSTABLEHLOPASS
#include "frontends/stablehlo/passes.h.inc"
}  // namespace mlir::sgd

using namespace mlir;
using namespace mlir::sgd;

/// `location` in names, files and calls, as StableHLO's readers know them: marks of the compiler are metadata of fused
/// locations, and end here.
static Location exportLocation(Location location) {
  if (auto name = dyn_cast<NameLoc>(location)) return NameLoc::get(name.getName(), exportLocation(name.getChildLoc()));
  if (auto call = dyn_cast<CallSiteLoc>(location))
    return CallSiteLoc::get(exportLocation(call.getCallee()), exportLocation(call.getCaller()));
  if (auto fused = dyn_cast<FusedLoc>(location))
    return FusedLoc::get(location.getContext(), llvm::map_to_vector(fused.getLocations(), exportLocation));
  if (isa<FileLineColRange>(location)) return location;
  return UnknownLoc::get(location.getContext());
}

/// An op of the table that the import reads too.
static LogicalResult exportElementwise(OpExport& e, const ElementwiseOrigin& origin) {
  RankedTensorType type = e.getResultType();
  if (!origin.isUnsigned) return e.finish(e.createNamed(origin.row->name, type, e.operands));
  SmallVector<Value> operands = llvm::map_to_vector(e.operands, [&](Value operand) { return e.toUnsigned(operand); });
  return e.finish(e.toSignless(e.createNamed(origin.row->name, withUnsigned(type), operands)));
}

static const ExportTable& getExports() {
  static const ExportTable table = [] {
    ExportTable exports;
    addElementwiseExports(exports);
    addShapeExports(exports);
    addIndexExports(exports);
    addContractionExports(exports);
    addControlFlowExports(exports);
    addCollectiveExports(exports);
    return exports;
  }();
  return table;
}

static LogicalResult exportOneOp(OpExport& e) {
  StringRef name = e.op->getName().getStringRef();
  if (ExportFn fn = getExports().lookup(name)) return fn(e);
  if (ElementwiseOrigin origin = findElementwiseOrigin(name); origin.row) return exportElementwise(e, origin);
  return exportAsCall(e);
}

ModuleExport::ModuleExport(ModuleOp program) : program(program) {
  if (MeshOp op = sgd::getMesh(program)) mesh = op.getMesh();
}

LogicalResult ModuleExport::exportOp(Operation* op, IRMapping& values, OpBuilder& builder) {
  SmallVector<Value> operands =
      llvm::map_to_vector(op->getOperands(), [&](Value value) { return values.lookup(value); });
  OpExport e(op, operands, builder, exportLocation(op->getLoc()), *this);
  if (failed(exportOneOp(e))) return failure();
  for (auto [result, exported] : llvm::zip_equal(op->getResults(), e.results)) values.map(result, exported);
  return success();
}

FailureOr<SmallVector<Value>> ModuleExport::exportBlock(Block& from, ValueRange arguments, OpBuilder& builder) {
  IRMapping values;
  for (auto [argument, exported] : llvm::zip_equal(from.getArguments(), arguments)) values.map(argument, exported);
  for (Operation& op : from.without_terminator())
    if (failed(exportOp(&op, values, builder))) return failure();
  return llvm::map_to_vector(from.getTerminator()->getOperands(), [&](Value value) { return values.lookup(value); });
}

/// The type of an argument or result for the user.
static RankedTensorType getUserType(Type type, DictionaryAttr attributes) {
  RankedTensorType exported = getExportedType(type);
  return attributes && attributes.contains(kUnsignedAttr) ? withUnsigned(exported) : exported;
}

static void setArgumentAttributes(func::FuncOp from, func::FuncOp to) {
  for (unsigned i = 0; i < from.getNumArguments(); ++i) {
    if (auto output = from.getArgAttrOfType<IntegerAttr>(i, kAliasOutputAttr))
      to.setArgAttr(i, "tf.aliasing_output",
                    IntegerAttr::get(IntegerType::get(from.getContext(), 32), output.getInt()));
    else if (from.getArgAttr(i, kDonatedAttr))
      to.setArgAttr(i, "jax.buffer_donor", BoolAttr::get(from.getContext(), true));
  }
}

LogicalResult ModuleExport::exportFunction(func::FuncOp function, OpBuilder& builder) {
  SmallVector<Type> inputs, outputs;
  SmallVector<Location> locations;
  for (BlockArgument argument : function.getArguments()) {
    inputs.push_back(getUserType(argument.getType(), function.getArgAttrDict(argument.getArgNumber())));
    locations.push_back(exportLocation(argument.getLoc()));
  }
  for (auto [i, type] : llvm::enumerate(function.getResultTypes()))
    outputs.push_back(getUserType(type, function.getResultAttrDict(i)));
  // Readers run the function main; stages of a pipeline are several functions.
  const bool isOnly = llvm::hasSingleElement(program.getOps<func::FuncOp>());
  auto exported = func::FuncOp::create(builder, exportLocation(function.getLoc()), isOnly ? "main" : function.getName(),
                                       builder.getFunctionType(inputs, outputs));
  setArgumentAttributes(function, exported);
  OpBuilder::InsertionGuard guard(builder);
  Block* body = builder.createBlock(&exported.getBody(), {}, inputs, locations);
  Operation* terminator = function.front().getTerminator();
  auto reinterpret = [&](Value value, RankedTensorType type) {
    return OpExport(terminator, {}, builder, exportLocation(terminator->getLoc()), *this).reinterpret(value, type);
  };
  SmallVector<Value> arguments = llvm::map_to_vector(body->getArguments(), [&](BlockArgument argument) {
    return reinterpret(argument, withSignless(cast<RankedTensorType>(argument.getType())));
  });
  FailureOr<SmallVector<Value>> results = exportBlock(function.front(), arguments, builder);
  if (failed(results)) return failure();
  for (auto [result, type] : llvm::zip_equal(*results, outputs))
    result = reinterpret(result, cast<RankedTensorType>(type));
  func::ReturnOp::create(builder, exportLocation(terminator->getLoc()), *results);
  return success();
}

OwningOpRef<ModuleOp> ModuleExport::run() {
  OwningOpRef<ModuleOp> exported = ModuleOp::create(exportLocation(program.getLoc()), program.getName());
  OpBuilder builder = OpBuilder::atBlockBegin(exported->getBody());
  (*exported)->setAttr("mhlo.num_partitions", builder.getI32IntegerAttr(getNumRanks()));
  (*exported)->setAttr("mhlo.num_replicas", builder.getI32IntegerAttr(1));
  for (func::FuncOp function : program.getOps<func::FuncOp>())
    if (failed(exportFunction(function, builder))) return nullptr;
  if (failed(verify(*exported))) return nullptr;
  return exported;
}

namespace {
struct ExportStablehloPass : mlir::sgd::impl::ExportStablehloPassBase<ExportStablehloPass> {
  void runOnOperation() override {
    OwningOpRef<ModuleOp> exported = exportStablehlo(getOperation());
    if (!exported) return signalPassFailure();
    getOperation().getBodyRegion().takeBody(exported->getBodyRegion());
    getOperation()->setDiscardableAttrs((*exported)->getDiscardableAttrDictionary());
  }
};
}  // namespace

OwningOpRef<ModuleOp> mlir::sgd::exportStablehlo(ModuleOp program) { return ModuleExport(program).run(); }
