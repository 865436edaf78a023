// The pass spmd-ring-matmuls, in all blocks of a program: loops over layers are where most matmuls are.
#include "dialects/sgd/decision.h"
#include "llvm/Support/Format.h"
#include "passes/sharding/reshard/sharding_state.h"
#include "passes/time/rings/passes.h"
#include "passes/time/rings/ring_timing.h"

namespace mlir::sgd {
#define GEN_PASS_DEF_RINGMATMULSPASS
#include "passes/time/rings/passes.h.inc"
}  // namespace mlir::sgd

using namespace mlir;
using namespace mlir::sgd;

/// Larger groups would make more steps than a matmul has worthwhile blocks.
static constexpr int64_t kMostRanks = 16;

namespace {
struct RingMatmulsPass : mlir::sgd::impl::RingMatmulsPassBase<RingMatmulsPass> {
  using RingMatmulsPassBase::RingMatmulsPassBase;

  void runOnOperation() override {
    MeshOp mesh = getMesh(getOperation());
    if (!mesh) return;
    FailureOr<CostModel> cost = loadCostModel(mesh, topologyName);
    if (failed(cost)) return signalPassFailure();
    if (cost->getTopology().name == getHostTopology().name) return;
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      if (function.isExternal()) continue;
      for (Block* block : getProgramBlocks(function)) {
        for (auto gather : llvm::make_early_inc_range(block->getOps<spmd::AllGatherOp>()))
          numGathered += visit<GatheredMatmul>(function, gather, *cost);
        for (auto scatter : llvm::make_early_inc_range(block->getOps<spmd::ReduceScatterOp>()))
          numScattered += visit<ScatteredMatmul>(function, scatter, *cost);
      }
    }
  }

 private:
  /// Whether `collective` became a ring.
  template <typename Ring, typename Op>
  bool visit(func::FuncOp function, Op collective, const CostModel& cost) {
    int64_t ranks =
        getGroupSize(getParts(lookupMesh(collective, collective.getAxes().getMesh()), collective.getAxes().getAxes()));
    std::optional<Ring> ring = ranks < 2 || ranks > kMostRanks ? std::nullopt : Ring::find(collective);
    double saved = ring ? getSavedSeconds(*ring, cost) : 0;
    if (!ring || saved < leastSaved) return false;
    Decision decision = Decision::at(DecisionKind::Ring, collective.getLoc());
    decision.chosen = "ring";
    llvm::raw_string_ostream(decision.why)
        << collective->getName().stripDialect() << " at " << decision.source
        << " and the matmul beside it are a ring of " << ranks << " steps, which saves about "
        << llvm::format("%.3g", saved * 1e6) << " us";
    addDecision(function, decision);
    ring->apply();
    return true;
  }
};
}  // namespace
