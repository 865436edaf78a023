// Workspaces of matrix products as buffers of the plan, so that the peak that is reported holds them.
#include "passes/memory/passes.h"

namespace mlir::sgd {
#define GEN_PASS_DEF_GIVEWORKSPACESPASS
#include "passes/memory/passes.h.inc"
}  // namespace mlir::sgd

using namespace mlir;
using namespace mlir::sgd;

namespace {

struct GiveWorkspacesPass : sgd::impl::GiveWorkspacesPassBase<GiveWorkspacesPass> {
  using GiveWorkspacesPassBase::GiveWorkspacesPassBase;

  void runOnOperation() final {
    getOperation().walk([&](plan::MatmulOp matmul) {
      // Tiles are a thread's own: they have none.
      if (!isa<func::FuncOp>(matmul->getParentOp()) || matmul.getWorkspace()) return;
      if (!isa<FloatType>(matmul.getC().getType().getElementType())) return;
      OpBuilder builder(matmul);
      auto type = MemRefType::get({static_cast<int64_t>(bytes)}, builder.getI8Type(), MemRefLayoutAttrInterface(),
                                  plan::SpaceAttr::get(&getContext(), plan::Space::Private));
      matmul.getWorkspaceMutable().assign(plan::AllocOp::create(builder, matmul.getLoc(), type, IntegerAttr()));
    });
  }
};

}  // namespace
