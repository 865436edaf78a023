// The pass sgd-set-mesh: axes of the recipe, then sizes of --mesh.
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
                                 << "--mesh names the axis '" << wanted.name << "', which the model has not";
      if (axes.empty()) return error << "; it has no mesh";
      error << "; its axes are ";
      llvm::interleaveComma(axes, error, [&](MeshAxisAttr axis) { error << axis.getName(); });
      return error;
    }
    *axis = MeshAxisAttr::get(program.getContext(), wanted.name, wanted.size);
  }
  if (!mesh || sizes.empty()) return success();
  auto error = [&] { return emitError(UnknownLoc::get(program.getContext())) << "--mesh: "; };
  if (failed(MeshAttr::verify(error, axes))) return failure();
  mesh.setMeshAttr(MeshAttr::get(program.getContext(), axes));
  return success();
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
    for (auto [index, program] : llvm::enumerate(programs)) {
      FileOfDiagnostics file(&getContext(), requested->getFile(index));
      if (failed(setSizes(program, requested->options.mesh))) return signalPassFailure();
    }
  }
};
}  // namespace
