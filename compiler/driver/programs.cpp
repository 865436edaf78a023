// Checks of every program, whichever frontend has imported it.
#include "compiler/driver/programs.h"

#include "dialects/sgd/mesh_name.h"
#include "dialects/sgd/sgd_dialect.h"
#include "dialects/sgd/stages.h"
#include "dialects/spmd/spmd_dialect.h"
#include "frontends/frontends.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/levels/levels.h"
#include "runtime/artifact/compression_state.h"

using namespace mlir;
using namespace mlir::sgd;

llvm::MemoryBufferRef mlir::sgd::getBuffer(const ProgramSource& source) { return {source.text, source.fileName}; }

/// The program's function: `main`, else the only public one.
static func::FuncOp getEntry(ModuleOp module) {
  if (auto main = module.lookupSymbol<func::FuncOp>("main")) return main;
  func::FuncOp entry;
  for (auto function : module.getOps<func::FuncOp>()) {
    if (function.isPrivate() || function.isExternal()) continue;
    if (entry) return {};
    entry = function;
  }
  return entry;
}

/// The names of what compression keeps from step to step belong to the compiler.
static LogicalResult checkStateNames(func::FuncOp entry) {
  for (BlockArgument argument : entry.getArguments()) {
    auto name = entry.getArgAttrOfType<StringAttr>(argument.getArgNumber(), kNameAttr);
    if (name && ::sgd::artifact::IsCompressionState(name.getValue()))
      return emitError(argument.getLoc())
             << "argument " << argument.getArgNumber() << " is named '" << name.getValue()
             << "'; expected such a name for the state of compressed reductions alone, which starts from zeros; "
                "rename the argument";
  }
  return success();
}

static LogicalResult checkTypes(func::FuncOp entry) {
  auto isSupported = [](Type type) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    return tensor && tensor.hasStaticShape() && tensor.getElementType().isIntOrFloat();
  };
  if (failed(checkStateNames(entry))) return failure();
  for (auto [index, type] : llvm::enumerate(entry.getArgumentTypes()))
    if (!isSupported(type))
      return emitError(entry.getArgument(index).getLoc())
             << "argument " << index << " has type " << type
             << "; arguments must be tensors of static shape, of integers or floats";
  for (auto [index, type] : llvm::enumerate(entry.getResultTypes()))
    if (!isSupported(type))
      return entry.emitError() << "result " << index << " has type " << type
                               << "; results must be tensors of static shape, of integers or floats";
  return success();
}

static LogicalResult nameSymbols(ModuleOp module, func::FuncOp entry, StringRef program) {
  if (MeshOp mesh = getMesh(module); mesh && mesh.getSymName() != kMeshName) {
    if (failed(SymbolTable::replaceAllSymbolUses(mesh, StringAttr::get(module.getContext(), kMeshName), module)))
      return failure();
    mesh.setSymName(kMeshName);
  }
  if (entry.getName() != program) {
    if (failed(SymbolTable::replaceAllSymbolUses(entry, StringAttr::get(module.getContext(), program), module)))
      return failure();
    entry.setSymName(program);
  }
  return success();
}

/// Groups of collectives name axes of the module's mesh.
static LogicalResult checkGroups(ModuleOp module) {
  WalkResult result = module.walk([](Operation* op) {
    if (!isa<spmd::SpmdDialect>(op->getDialect()) && !isa<ManualComputationOp, PermuteRanksOp>(op))
      return WalkResult::advance();
    for (NamedAttribute attribute : op->getAttrDictionary()) {
      auto group = dyn_cast<AxisListAttr>(attribute.getValue());
      if (!group || lookupMesh(op, group.getMesh())) continue;
      op->emitError() << "names the mesh " << group.getMesh()
                      << ", which the module does not have; expected the one that it has, @" << kMeshName
                      << "; correct '" << attribute.getName().getValue() << "'";
      return WalkResult::interrupt();
    }
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

/// Renames the functions of the program's stages: those of all programs will be in one module.
static LogicalResult nameStages(ModuleOp module, StringRef program) {
  Builder builder(module.getContext());
  for (auto function : module.getOps<func::FuncOp>()) {
    std::optional<int64_t> stage = getStage(function);
    if (!stage || function.isExternal())
      return function.emitError() << "'" << function.getName() << "' has no stage or no body; expected '" << kStageAttr
                                  << "' on every function where the mesh has '" << kStagesAttr << "'";
    std::string name = (program + "_stage" + Twine(*stage)).str();
    if (Operation* other = module.lookupSymbol(name); other && other != function)
      return function.emitError() << "a second function is of stage " << *stage << "; expected one for each stage";
    function.setSymName(name);
    function->setAttr(kProgramAttr, builder.getStringAttr(program));
  }
  return success();
}

bool mlir::sgd::hasStages(ModuleOp module) { return static_cast<bool>(getActiveStageAxis(getMesh(module))); }

/// A pipeline that was written by hand, at the SPMD level.
static LogicalResult takeStages(ModuleOp module, StringRef program) {
  MeshOp mesh = getMesh(module);
  if (mesh.getSymName() != kMeshName)
    return mesh.emitError() << "is called @" << mesh.getSymName() << "; expected @" << kMeshName << "; rename it";
  for (auto function : module.getOps<func::FuncOp>())
    if (failed(checkTypes(function))) return failure();
  if (failed(verifyLevel(module, Level::Spmd)) || failed(nameStages(module, program))) return failure();
  return checkGroups(module);
}

/// A program at the graph level.
static LogicalResult takeGraph(ModuleOp module, StringRef program) {
  func::FuncOp entry = getEntry(module);
  if (!entry || entry.isExternal())
    return emitError(UnknownLoc::get(module.getContext()))
           << "has no function 'main' and not exactly one public function";
  if (failed(verifyLevel(module, Level::Graph)) || failed(checkTypes(entry))) return failure();
  return failure(failed(nameSymbols(module, entry, program)) || failed(checkGroups(module)));
}

ImportOptions mlir::sgd::getImportOptions(const PlanOptions& options) {
  ImportOptions import;
  if (options.unrolledOps) import.unrolledOps = *options.unrolledOps;
  import.keepsLayerLoops = options.keepsLayerLoops && !options.unrolledOps;
  import.allowTf32 = options.allowTf32;
  import.keepUnreduced = options.keepUnreduced;
  import.transformsByMatmuls = StringRef(options.target).starts_with("cuda");
  return import;
}

OwningOpRef<ModuleOp> mlir::sgd::loadProgram(MLIRContext* context, const ProgramSource& source,
                                             const ImportOptions& options, Timings* timings) {
  std::optional<Timings::Scope> phase;
  ImportOptions timed = options;
  timed.enterPhase = [&](StringRef name) {
    phase.reset();
    phase.emplace(timings, name);
  };
  timed.enterPhase("import");
  OwningOpRef<ModuleOp> module = importProgram(context, getBuffer(source), timed);
  if (!module) return nullptr;
  auto take = hasStages(*module) ? takeStages : takeGraph;
  return succeeded(take(*module, source.name)) ? std::move(module) : nullptr;
}
