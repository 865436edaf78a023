// The pass sgd-split-barriers.
#include "dialects/sgd/sequential.h"
#include "passes/spmd/collectives/rank_differences.h"
#include "passes/time/sequential/passes.h"

namespace mlir::sgd {
#define GEN_PASS_DEF_SPLITBARRIERSPASS
#include "passes/time/sequential/passes.h.inc"
}  // namespace mlir::sgd

using namespace mlir;
using namespace mlir::sgd;

/// One barrier for the operands that `isFirst` chooses, and one for the others.
static void split(OptimizationBarrierOp barrier, llvm::function_ref<bool(Value)> isFirst) {
  SmallVector<Value> operands[2], results[2];
  for (auto [operand, result] : llvm::zip(barrier.getInputs(), barrier.getResults())) {
    operands[isFirst(operand)].push_back(operand);
    results[isFirst(operand)].push_back(result);
  }
  if (operands[0].empty() || operands[1].empty()) return;
  OpBuilder builder(barrier);
  for (bool first : {true, false}) {
    auto own = OptimizationBarrierOp::create(builder, barrier.getLoc(), ValueRange(operands[first]).getTypes(),
                                             operands[first]);
    for (auto [before, after] : llvm::zip(results[first], own.getResults())) before.replaceAllUsesWith(after);
  }
  barrier.erase();
}

namespace {
struct SplitBarriersPass : mlir::sgd::impl::SplitBarriersPassBase<SplitBarriersPass> {
  using SplitBarriersPassBase::SplitBarriersPassBase;

  void runOnOperation() override {
    MeshOp mesh = getMesh(getOperation());
    MeshAxisAttr axis = getActiveSequentialAxis(mesh);
    if (!axis) return;
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      if (function.isExternal()) continue;
      RankDifferences differences(function, mesh.getMesh());
      auto isSame = [&](Value value) { return !overlaps(differences.get(value), {{0, 1, axis.getSize()}}); };
      SmallVector<OptimizationBarrierOp> barriers(function.front().getOps<OptimizationBarrierOp>());
      // From the last to the first: the differences of what later ones read are known by its old name.
      for (OptimizationBarrierOp barrier : llvm::reverse(barriers)) split(barrier, isSame);
    }
  }
};
}  // namespace
