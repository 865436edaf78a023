// Workspaces of matrix products as buffers of the plan, so that the peak that is reported holds them.
#include "passes/memory/passes.h"

namespace mlir::sgd {
#define GEN_PASS_DEF_GIVEWORKSPACESPASS
#include "passes/memory/passes.h.inc"
}  // namespace mlir::sgd

using namespace mlir;
using namespace mlir::sgd;

namespace {

/// Of what libraries are given, anywhere in a buffer.
constexpr uint64_t kAlignment = 256;

struct GiveWorkspacesPass : sgd::impl::GiveWorkspacesPassBase<GiveWorkspacesPass> {
  using GiveWorkspacesPassBase::GiveWorkspacesPassBase;

  /// A library has use for copies of the operands in another order, and for parts of sums, which are no more than the
  /// operands are where a sum is worth cutting.
  int64_t getWorkspaceBytes(plan::MatmulOp matmul) const {
    auto wanted = static_cast<uint64_t>(matmul.getTouchedBytes());
    return static_cast<int64_t>(std::min(llvm::alignTo(wanted, kAlignment), bytes.getValue()) + kAlignment);
  }

  void runOnOperation() final {
    getOperation().walk([&](plan::MatmulOp matmul) {
      // Tiles are a thread's own: they have none.
      if (!isa<func::FuncOp>(matmul->getParentOp()) || matmul.getWorkspace()) return;
      if (!isa<FloatType>(matmul.getC().getType().getElementType())) return;
      OpBuilder builder(matmul);
      auto type = MemRefType::get({getWorkspaceBytes(matmul)}, builder.getI8Type(), MemRefLayoutAttrInterface(),
                                  plan::SpaceAttr::get(&getContext(), plan::Space::Private));
      matmul.getWorkspaceMutable().assign(plan::AllocOp::create(builder, matmul.getLoc(), type, IntegerAttr()));
    });
  }
};

}  // namespace
