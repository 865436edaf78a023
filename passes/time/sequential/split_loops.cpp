// The pass sgd-split-loops.
#include "dialects/sgd/sequential.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "passes/spmd/collectives/rank_differences.h"
#include "passes/time/sequential/passes.h"

namespace mlir::sgd {
#define GEN_PASS_DEF_SPLITLOOPSPASS
#include "passes/time/sequential/passes.h.inc"
}  // namespace mlir::sgd

using namespace mlir;
using namespace mlir::sgd;

/// Computes the results that `isSame` chooses in a loop of their own. `dropIdle` drops iter_args that neither loop
/// needs.
static void split(WhileOp loop, llvm::function_ref<bool(Value)> isSame, const FrozenRewritePatternSet& dropIdle) {
  auto isMoved = [&](OpResult result) {
    return !result.use_empty() && isSame(result) && !loop.isInvariant(result.getResultNumber());
  };
  SmallVector<unsigned> moved;
  for (OpResult result : loop->getResults())
    if (isMoved(result)) moved.push_back(result.getResultNumber());
  bool hasOther = llvm::any_of(loop.getResults(), [&](Value result) { return !isSame(result); });
  if (moved.empty() || !hasOther || !isMemoryEffectFree(loop)) return;
  OpBuilder builder(loop);
  auto own = cast<WhileOp>(builder.clone(*loop));
  for (unsigned result : moved) loop.getResult(result).replaceAllUsesWith(own.getResult(result));
  GreedyRewriteConfig config;
  config.setStrictness(GreedyRewriteStrictness::ExistingOps);
  (void)applyOpPatternsGreedily({loop, own}, dropIdle, config);
}

namespace {
struct SplitLoopsPass : mlir::sgd::impl::SplitLoopsPassBase<SplitLoopsPass> {
  using SplitLoopsPassBase::SplitLoopsPassBase;

  void runOnOperation() override {
    MeshOp mesh = getMesh(getOperation());
    MeshAxisAttr axis = getActiveSequentialAxis(mesh);
    if (!axis) return;
    RewritePatternSet patterns(&getContext());
    WhileOp::getCanonicalizationPatterns(patterns, &getContext());
    FrozenRewritePatternSet dropIdle(std::move(patterns));
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      if (function.isExternal()) continue;
      RankDifferences differences(function, mesh.getMesh());
      auto isSame = [&](Value value) { return !overlaps(differences.get(value), {{0, 1, axis.getSize()}}); };
      SmallVector<WhileOp> loops(function.front().getOps<WhileOp>());
      // From the last to the first: a later loop may stop reading a result of an earlier one.
      for (WhileOp loop : llvm::reverse(loops)) split(loop, isSame, dropIdle);
    }
  }
};
}  // namespace
