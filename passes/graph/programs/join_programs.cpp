// The pass sgd-join-programs.
#include "dialects/sgd/programs.h"
#include "passes/graph/programs/passes.h"

namespace mlir::sgd {
#define GEN_PASS_DEF_JOINPROGRAMSPASS
#include "passes/graph/programs/passes.h.inc"
}  // namespace mlir::sgd

using namespace mlir;
using namespace mlir::sgd;

namespace {
struct JoinProgramsPass : mlir::sgd::impl::JoinProgramsPassBase<JoinProgramsPass> {
  using JoinProgramsPassBase::JoinProgramsPassBase;

  void runOnOperation() override {
    ModuleOp compilation = getOperation();
    SmallVector<ModuleOp> programs = getPrograms(compilation);
    if (programs.front() == compilation) return;
    for (NamedAttribute attribute : programs.front()->getDiscardableAttrs())
      compilation->setDiscardableAttr(attribute.getName(), attribute.getValue());
    Block& body = *compilation.getBody();
    if (MeshOp mesh = getMesh(programs.front())) mesh->moveBefore(&body, body.begin());
    for (ModuleOp program : programs) {
      for (auto function : llvm::make_early_inc_range(program.getOps<func::FuncOp>()))
        function->moveBefore(&body, body.end());
      program.erase();
    }
  }
};
}  // namespace
