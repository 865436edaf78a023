// Asks for gelu before what is added, of which it has a bias itself, and for sums of operands where nothing else
// follows a product.
#include "passes/schedule/epilogues.h"
#include "passes/schedule/passes.h"

namespace mlir::sgd {
#define GEN_PASS_DEF_FUSEEPILOGUESPASS
#include "passes/schedule/passes.h.inc"
}  // namespace mlir::sgd

using namespace mlir;
using namespace mlir::sgd;

static SmallVector<int32_t, 2> getKinds(ArrayRef<Epilogue> epilogue) {
  return llvm::map_to_vector<2>(epilogue, [](Epilogue kind) { return static_cast<int32_t>(kind); });
}

LibraryContractOp mlir::sgd::createCall(OpBuilder& builder, ContractOp op, const EpilogueOperands& operands,
                                        ArrayRef<Epilogue> epilogue, Type extra) {
  return LibraryContractOp::create(builder, op.getLoc(), op.getType(), extra, op.getLhs(), op.getRhs(),
                                   operands.residual, operands.bias, operands.preActivation, op.getLhsLabels(),
                                   op.getRhsLabels(), op.getResultLabels(), getKinds(epilogue), op.getTf32());
}

LibraryConvolveOp mlir::sgd::createCall(OpBuilder& builder, ConvolveOp op, const EpilogueOperands& operands,
                                        ArrayRef<Epilogue> epilogue) {
  return LibraryConvolveOp::create(builder, op.getLoc(), op.getType(), op.getLhs(), op.getRhs(), operands.residual,
                                   operands.bias, op.getLhsLabels(), op.getRhsLabels(), op.getResultLabels(),
                                   op.getStrides(), op.getLow(), op.getLhsDilations(), op.getRhsDilations(),
                                   getKinds(epilogue), op.getTf32());
}

namespace {

struct FuseEpiloguesPass : sgd::impl::FuseEpiloguesPassBase<FuseEpiloguesPass> {
  FuseEpiloguesPass() = default;
  explicit FuseEpiloguesPass(const LibraryModel& libraries) : libraries(&libraries) {}

  LogicalResult initialize(MLIRContext* context) final { return requireLibraries(libraries, *this, context); }

  void runOnOperation() final {
    if (getOperation().isExternal()) return;
    for (Block* block : getProgramBlocks(getOperation())) {
      fuseGelu(*block, *libraries);
      fuseAdditions(*block, *libraries);
      fuseSums(*block, *libraries);
    }
  }

  const LibraryModel* libraries = nullptr;
};

}  // namespace

std::unique_ptr<Pass> mlir::sgd::createFuseEpiloguesPass(const LibraryModel& libraries) {
  return std::make_unique<FuseEpiloguesPass>(libraries);
}
