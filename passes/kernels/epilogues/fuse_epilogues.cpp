// Tries gelu before additions, since it has a bias itself, and reductions of operands where a matmul has no other
// epilogue.
#include "dialects/fusion/fusion_dialect.h"
#include "passes/kernels/epilogues/epilogues.h"
#include "passes/kernels/epilogues/passes.h"

namespace mlir::sgd {
#define GEN_PASS_DEF_FUSEEPILOGUESPASS
#include "passes/kernels/epilogues/passes.h.inc"
}  // namespace mlir::sgd

using namespace mlir;
using namespace mlir::sgd;

fusion::LibraryMatmulOp mlir::sgd::createCall(OpBuilder& builder, fusion::MatmulOp op, const EpilogueOperands& operands,
                                              const fusion::Epilogue& epilogue, Type extra) {
  return fusion::LibraryMatmulOp::create(builder, op.getLoc(), op.getType(), extra, op.getLhs(), op.getRhs(),
                                         operands.residual, operands.bias, operands.preActivation, op.getLhsLabels(),
                                         op.getRhsLabels(), op.getResultLabels(), epilogue, op.getTf32());
}

fusion::LibraryConvolutionOp mlir::sgd::createCall(OpBuilder& builder, fusion::ConvolutionOp op,
                                                   const EpilogueOperands& operands, const fusion::Epilogue& epilogue) {
  return fusion::LibraryConvolutionOp::create(builder, op.getLoc(), op.getType(), op.getLhs(), op.getRhs(),
                                              operands.residual, operands.bias, op.getLhsLabels(), op.getRhsLabels(),
                                              op.getResultLabels(), op.getStrides(), op.getLow(), op.getLhsDilations(),
                                              op.getRhsDilations(), epilogue, op.getTf32());
}

namespace {

struct FuseEpiloguesPass : mlir::sgd::impl::FuseEpiloguesPassBase<FuseEpiloguesPass> {
  FuseEpiloguesPass() = default;
  explicit FuseEpiloguesPass(const LibraryModel& libraries) : libraries(&libraries) {}

  LogicalResult initialize(MLIRContext* context) final { return requireLibraries(libraries, *this, context); }

  void runOnOperation() final {
    if (getOperation().isExternal()) return;
    for (Block* block : getProgramBlocks(getOperation())) {
      fuseGelu(*block, *libraries);
      fuseAdditions(*block, *libraries);
      fuseReductions(*block, *libraries);
    }
  }

  const LibraryModel* libraries = nullptr;
};

}  // namespace

std::unique_ptr<Pass> mlir::sgd::createFuseEpiloguesPass(const LibraryModel& libraries) {
  return std::make_unique<FuseEpiloguesPass>(libraries);
}
