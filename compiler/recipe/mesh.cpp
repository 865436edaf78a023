// The mesh that a recipe names.
#include "compiler/recipe/apply.h"
#include "dialects/sgd/mesh_name.h"
#include "dialects/sgd/sgd_dialect.h"

using namespace mlir;
using namespace mlir::sgd;

LogicalResult mlir::sgd::applyRecipeMesh(llvm::MutableArrayRef<OwningOpRef<ModuleOp>> programs, const Recipe& recipe) {
  if (recipe.mesh.empty()) return success();
  for (OwningOpRef<ModuleOp>& program : programs) {
    MLIRContext* context = program->getContext();
    SmallVector<MeshAxisAttr> axes;
    MeshOp mesh = getMesh(*program);
    if (mesh)
      for (MeshAxisAttr axis : mesh.getMesh().getAxes())
        if (llvm::none_of(recipe.mesh, [&](const MeshAxisSize& given) { return given.name == axis.getName(); }))
          axes.push_back(axis);
    for (const MeshAxisSize& axis : recipe.mesh) axes.push_back(MeshAxisAttr::get(context, axis.name, axis.size));
    auto error = [&] { return emitError(UnknownLoc::get(context)) << "field 'mesh': "; };
    if (failed(MeshAttr::verify(error, axes))) return failure();
    auto attr = MeshAttr::get(context, axes);
    if (mesh) {
      mesh.setMeshAttr(attr);
      continue;
    }
    OpBuilder builder = OpBuilder::atBlockBegin(program->getBody());
    MeshOp::create(builder, program->getLoc(), kMeshName, attr);
  }
  return success();
}
