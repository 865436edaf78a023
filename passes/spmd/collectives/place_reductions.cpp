// The pass sgd-place-reductions: partial values are carried, then reshards of each value are rerouted.
#include "passes/sharding/reshard/sharding_state.h"
#include "passes/spmd/collectives/carried_reductions.h"
#include "passes/spmd/collectives/earlier_reshards.h"
#include "passes/spmd/collectives/loop_collectives.h"
#include "passes/spmd/collectives/owned_blocks.h"
#include "passes/spmd/collectives/passes.h"
#include "passes/spmd/collectives/reshard_trees.h"
#include "passes/spmd/partition/factor_check.h"

namespace mlir::sgd {
#define GEN_PASS_DEF_PLACEREDUCTIONSPASS
#include "passes/spmd/collectives/passes.h.inc"
}  // namespace mlir::sgd

using namespace mlir;
using namespace mlir::sgd;

/// Bytes of reshards that may stay alive through a loop to save communication in each iteration.
static constexpr int64_t kHeldBytes = 256 << 20;

namespace {
struct PlaceReductionsPass : mlir::sgd::impl::PlaceReductionsPassBase<PlaceReductionsPass> {
  using PlaceReductionsPassBase::PlaceReductionsPassBase;

  void runOnOperation() override {
    MeshOp mesh = getMesh(getOperation());
    if (!mesh) return;
    FailureOr<CostModel> cost = loadCostModel(mesh, topologyName);
    if (failed(cost)) return signalPassFailure();
    ReshardCosts costs(mesh.getMesh(), *cost);
    MeshAxes axes(FlatSymbolRefAttr::get(mesh.getSymNameAttr()), mesh.getMesh());
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      if (failed(checkShardings(function, axes.getName(), axes.getMesh()))) return signalPassFailure();
      // Chains of reshards first become single ones, which the carrying of reductions then sees.
      numRerouted += rerouteReshards(function, costs);
      numOwned += keepBlocksWithOwners(function, axes);
      numRerouted += reshardOperands(function, axes, costs);
      numLeft += reduceAfterLoops(function, axes, kHeldBytes);
      numLeft += gatherBeforeLoops(function, axes, costs, kHeldBytes);
      numLeft += hoistReshards(function, costs, kHeldBytes);
      CarriedReductions carried = carryReductions(function, axes, costs);
      numMerged += carried.numMerged;
      numMoved += carried.numMoved;
      numRerouted += rerouteReshards(function, costs);
    }
  }
};
}  // namespace
