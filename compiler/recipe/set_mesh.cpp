// The pass sgd-set-mesh: axes of the recipe, then sizes of --mesh, which names the axes of a recipe that names none.
#include "compiler/recipe/passes.h"
#include "compiler/recipe/requested.h"
#include "dialects/sgd/mesh_name.h"
#include "dialects/sgd/programs.h"

namespace mlir::sgd {
#define GEN_PASS_DEF_SETMESHPASS
#include "compiler/recipe/passes.h.inc"
}  // namespace mlir::sgd

using namespace mlir;
using namespace mlir::sgd;

static LogicalResult setAxes(ModuleOp program, ArrayRef<MeshAxisSize> wanted) {
  MLIRContext* context = program.getContext();
  SmallVector<MeshAxisAttr> axes;
  MeshOp mesh = getMesh(program);
  if (mesh)
    for (MeshAxisAttr axis : mesh.getMesh().getAxes())
      if (llvm::none_of(wanted, [&](const MeshAxisSize& given) { return given.name == axis.getName(); }))
        axes.push_back(axis);
  for (const MeshAxisSize& axis : wanted) axes.push_back(MeshAxisAttr::get(context, axis.name, axis.size));
  auto error = [&] { return emitError(UnknownLoc::get(context)) << "field 'mesh': "; };
  if (failed(MeshAttr::verify(error, axes))) return failure();
  auto attr = MeshAttr::get(context, axes);
  if (mesh) {
    mesh.setMeshAttr(attr);
    return success();
  }
  OpBuilder builder = OpBuilder::atBlockBegin(program.getBody());
  MeshOp::create(builder, program.getLoc(), kMeshName, attr);
  return success();
}

/// Gives the program's axes new sizes.
static LogicalResult setSizes(ModuleOp program, ArrayRef<MeshAxisSize> sizes) {
  MeshOp mesh = getMesh(program);
  SmallVector<MeshAxisAttr> axes;
  if (mesh) axes.assign(mesh.getMesh().getAxes().begin(), mesh.getMesh().getAxes().end());
  for (const MeshAxisSize& wanted : sizes) {
    auto axis = llvm::find_if(axes, [&](MeshAxisAttr axis) { return axis.getName() == wanted.name; });
    if (axis == axes.end()) {
      InFlightDiagnostic error = emitError(UnknownLoc::get(program.getContext()))
                                 << "--mesh names the axis '" << wanted.name << "', which the model does not have";
      error << (axes.empty() ? "; it has no mesh" : "; its axes are ");
      llvm::interleaveComma(axes, error, [&](MeshAxisAttr axis) { error << axis.getName(); });
      return error << "; a new axis needs a recipe that shards something over it, as --batch " << wanted.name
                   << " does the rows of inputs";
    }
    *axis = MeshAxisAttr::get(program.getContext(), wanted.name, wanted.size);
  }
  if (!mesh || sizes.empty()) return success();
  auto error = [&] { return emitError(UnknownLoc::get(program.getContext())) << "--mesh: "; };
  if (failed(MeshAttr::verify(error, axes))) return failure();
  mesh.setMeshAttr(MeshAttr::get(program.getContext(), axes));
  return success();
}

/// Those of `sizes` that the program has no axis for.
static SmallVector<MeshAxisSize> getNewAxes(ModuleOp program, ArrayRef<MeshAxisSize> sizes) {
  MeshOp mesh = getMesh(program);
  auto isNew = [&](const MeshAxisSize& axis) { return !mesh || !mesh.getMesh().getAxisSize(axis.name); };
  return llvm::to_vector(llvm::make_filter_range(sizes, isNew));
}

namespace {
struct SetMeshPass : mlir::sgd::impl::SetMeshPassBase<SetMeshPass> {
  using SetMeshPassBase::SetMeshPassBase;

  void runOnOperation() override {
    FailureOr<Requested> requested = Requested::read(getOperation());
    if (failed(requested)) return signalPassFailure();
    SmallVector<ModuleOp> programs = getPrograms(getOperation());
    if (requested->recipe && !requested->recipe->mesh.empty()) {
      FileOfDiagnostics file(&getContext(), requested->recipe->fileName);
      for (ModuleOp program : programs)
        if (failed(setAxes(program, requested->recipe->mesh))) return signalPassFailure();
    }
    // A recipe without sizes leaves its axes to --mesh.
    bool isMeshOfRecipe = requested->recipe && requested->recipe->mesh.empty();
    for (auto [index, program] : llvm::enumerate(programs)) {
      FileOfDiagnostics file(&getContext(), requested->getFile(index));
      SmallVector<MeshAxisSize> added = getNewAxes(program, requested->options.mesh);
      if (isMeshOfRecipe && !added.empty() && failed(setAxes(program, added))) return signalPassFailure();
      if (failed(setSizes(program, requested->options.mesh))) return signalPassFailure();
    }
  }
};
}  // namespace
