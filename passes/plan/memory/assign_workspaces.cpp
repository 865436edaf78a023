// Workspaces of library calls as buffers of the plan, so that the reported peak includes them.
#include "dialects/cost/cost_op.h"
#include "passes/plan/memory/passes.h"

namespace mlir::sgd {
#define GEN_PASS_DEF_ASSIGNWORKSPACESPASS
#include "passes/plan/memory/passes.h.inc"
}  // namespace mlir::sgd

using namespace mlir;
using namespace mlir::sgd;

namespace {

struct AssignWorkspacesPass : mlir::sgd::impl::AssignWorkspacesPassBase<AssignWorkspacesPass> {
  AssignWorkspacesPass() = default;
  explicit AssignWorkspacesPass(const LibraryModel& libraries) : libraries(&libraries) {}

  LogicalResult initialize(MLIRContext* context) final { return requireLibraries(libraries, *this, context); }

  void runOnOperation() final {
    getOperation().walk([&](plan::MatmulOp matmul) {
      // Tiles are a thread's own: they have none.
      if (!isa<func::FuncOp>(matmul->getParentOp()) || matmul.getWorkspace()) return;
      auto touched = static_cast<int64_t>(getWork(matmul).getBytes());
      int64_t bytes = libraries->getMatmulWorkspace(matmul.getC().getType().getElementType(), touched);
      if (bytes == 0) return;
      OpBuilder builder(matmul);
      auto type = MemRefType::get({bytes}, builder.getI8Type(), MemRefLayoutAttrInterface(),
                                  plan::SpaceAttr::get(&getContext(), plan::Space::Private));
      matmul.getWorkspaceMutable().assign(plan::AllocOp::create(builder, matmul.getLoc(), type, IntegerAttr()));
    });
  }

  const LibraryModel* libraries = nullptr;
};

}  // namespace

std::unique_ptr<Pass> mlir::sgd::createAssignWorkspacesPass(const LibraryModel& libraries) {
  return std::make_unique<AssignWorkspacesPass>(libraries);
}
