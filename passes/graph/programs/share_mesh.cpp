// The pass sgd-share-mesh.
#include "dialects/sgd/programs.h"
#include "passes/graph/programs/passes.h"

namespace mlir::sgd {
#define GEN_PASS_DEF_SHAREMESHPASS
#include "passes/graph/programs/passes.h.inc"
}  // namespace mlir::sgd

using namespace mlir;
using namespace mlir::sgd;

/// The mesh of all programs, null where none has one.
static FailureOr<MeshOp> findMesh(ArrayRef<ModuleOp> programs) {
  MeshOp known;
  for (ModuleOp program : programs) {
    MeshOp mesh = getMesh(program);
    if (!mesh || mesh.getMesh().getAxes().empty()) continue;
    if (known && mesh.getMesh() != known.getMesh()) {
      func::FuncOp function = *program.getOps<func::FuncOp>().begin();
      return LogicalResult(emitError(UnknownLoc::get(known.getContext()))
                           << "program '" << function.getName() << "' has the mesh " << mesh.getMesh()
                           << " where another has " << known.getMesh() << "; programs of one artifact run on one mesh");
    }
    known = mesh;
  }
  return known;
}

namespace {
struct ShareMeshPass : mlir::sgd::impl::ShareMeshPassBase<ShareMeshPass> {
  using ShareMeshPassBase::ShareMeshPassBase;

  void runOnOperation() override {
    SmallVector<ModuleOp> programs = getPrograms(getOperation());
    FailureOr<MeshOp> known = findMesh(programs);
    if (failed(known)) return signalPassFailure();
    if (!*known) return;
    for (ModuleOp program : programs) {
      if (MeshOp mesh = getMesh(program))
        mesh.setMeshAttr((*known).getMesh());
      else
        program.getBody()->getOperations().push_front((*known)->clone());
    }
  }
};
}  // namespace
