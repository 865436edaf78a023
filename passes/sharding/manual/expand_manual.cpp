// The pass sgd-expand-manual: every manual computation of the program, on a mesh cut as their collectives need it.
#include "dialects/sgd/programs.h"
#include "passes/sharding/manual/batch_rule.h"
#include "passes/sharding/manual/manual_expansion.h"
#include "passes/sharding/manual/passes.h"

namespace mlir::sgd {
#define GEN_PASS_DEF_EXPANDMANUALPASS
#include "passes/sharding/manual/passes.h.inc"
}  // namespace mlir::sgd

using namespace mlir;
using namespace mlir::sgd;

namespace {
struct ExpandManualPass : mlir::sgd::impl::ExpandManualPassBase<ExpandManualPass> {
  using ExpandManualPassBase::ExpandManualPassBase;

  void getDependentDialects(DialectRegistry& registry) const override {
    ExpandManualPassBase::getDependentDialects(registry);
    registerBatchRules(registry);
  }

  void runOnOperation() override {
    MeshOp mesh = getMesh(getOperation());
    SmallVector<ManualComputationOp> regions;
    getOperation()->walk<WalkOrder::PreOrder>([&](ManualComputationOp op) {
      regions.push_back(op);
      return WalkResult::skip();
    });
    if (regions.empty()) return;
    getOperation()->setAttr(kWasManualAttr, UnitAttr::get(&getContext()));
    std::optional<CutMesh> cut = CutMesh::create(mesh.getMesh(), getCollectiveAxes(regions));
    if (!cut) {
      regions[0].emitError(
          "has collectives over parts of an axis that do not nest, such as 2 x 3 and 3 x 2 of 6 ranks; give "
          "the mesh an axis for each part");
      return signalPassFailure();
    }
    for (ManualComputationOp op : regions) {
      OpBuilder builder(op);
      SmallVector<Batched> results;
      ManualExpansion expansion(builder, FlatSymbolRefAttr::get(mesh.getSymNameAttr()), *cut);
      if (failed(expansion.expand(op, results))) return signalPassFailure();
      for (auto [original, result] : llvm::zip(op.getResults(), results)) original.replaceAllUsesWith(result.value);
      Block* block = op->getBlock();
      op.erase();
      eraseDead(*block);
    }
  }

  /// The axes that collectives use.
  static SmallVector<AxisRefAttr> getCollectiveAxes(ArrayRef<ManualComputationOp> regions) {
    SmallVector<AxisRefAttr> refs;
    for (ManualComputationOp region : regions)
      region->walk([&](Operation* op) {
        for (NamedAttribute attribute : op->getAttrs())
          if (auto axes = dyn_cast<AxisListAttr>(attribute.getValue())) llvm::append_range(refs, axes.getAxes());
      });
    return refs;
  }

  /// Indices of ranks that nobody uses.
  static void eraseDead(Block& block) {
    for (Operation& op : llvm::make_early_inc_range(llvm::reverse(block)))
      if (isa<arith::ConstantOp>(op) && op.use_empty()) op.erase();
  }
};
}  // namespace
