// Replaces groups of contractions and clusters by fusion.tiled, later groups first: what they compute again need not be
// kept by earlier ones.
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "dialects/fusion/fusion_dialect.h"
#include "dialects/spmd/spmd_dialect.h"
#include "passes/schedule/passes.h"
#include "passes/schedule/tile_finder.h"
#include "passes/schedule/tile_writer.h"

namespace mlir::sgd {
#define GEN_PASS_DEF_FUSETILESPASS
#include "passes/schedule/passes.h.inc"
}  // namespace mlir::sgd

using namespace mlir;
using namespace mlir::sgd;

namespace {

/// `cluster` without the results that nobody reads.
void dropUnusedResults(fusion::ClusterOp cluster) {
  if (llvm::none_of(cluster.getResults(), [](Value result) { return result.use_empty(); })) return;
  SmallVector<Value> used, yielded;
  SmallVector<Type> types;
  Operation* yield = cluster.getBody().front().getTerminator();
  for (auto [result, value] : llvm::zip(cluster.getResults(), yield->getOperands()))
    if (!result.use_empty()) used.push_back(result), yielded.push_back(value), types.push_back(result.getType());
  OpBuilder builder(cluster);
  auto smaller = fusion::ClusterOp::create(builder, cluster.getLoc(), types, cluster.getInputs());
  smaller.getBody().takeBody(cluster.getBody());
  yield->setOperands(yielded);
  for (auto [from, to] : llvm::zip(used, smaller.getResults())) from.replaceAllUsesWith(to);
  for (Operation& op : llvm::make_early_inc_range(llvm::reverse(smaller.getBody().front())))
    if (isOpTriviallyDead(&op)) op.erase();
  cluster.erase();
}

/// Puts `tiled` at the position of the group's last op, and the ops that depend on it behind it.
void replaceGroup(const TileGroup& group, fusion::TiledOp tiled) {
  for (auto [index, output] : llvm::enumerate(group.getOutputs()))
    Value(output).replaceAllUsesWith(tiled.getResult(index));
  SmallPtrSet<Operation*, 32> moved = {tiled};
  Operation* position = tiled;
  bool movesChannels = false;  // sends and receives keep their order
  for (Operation* op = group.ops.front(); op != tiled;) {
    Operation* next = op->getNextNode();
    bool usesChannels = spmd::usesChannels(op);
    bool depends = (usesChannels && movesChannels) || llvm::any_of(op->getOperands(), [&](Value operand) {
                     return moved.contains(operand.getDefiningOp());
                   });
    if (depends && !group.contains(op)) {
      movesChannels |= usesChannels;
      op->moveAfter(position);
      moved.insert(op);
      position = op;
    }
    op = next;
  }
  for (Operation* op : llvm::reverse(group.ops)) op->erase();
}

struct FuseTilesPass : mlir::sgd::impl::FuseTilesPassBase<FuseTilesPass> {
  using FuseTilesPassBase::FuseTilesPassBase;

  void runOnOperation() final {
    func::FuncOp function = getOperation();
    if (function.isExternal() || !llvm::hasSingleElement(function.getBody()) || scratchBytes <= 0) return;
    SmallVector<fusion::ClusterOp> clusters;
    for (Block* block : getProgramBlocks(function)) llvm::append_range(clusters, block->getOps<fusion::ClusterOp>());
    for (fusion::ClusterOp cluster : llvm::reverse(clusters))
      if (!replaced.contains(cluster)) visit(cluster);
    replaced.clear();
    SmallVector<fusion::ClusterOp> remaining;
    function.walk([&](fusion::ClusterOp cluster) { remaining.push_back(cluster); });
    for (fusion::ClusterOp cluster : remaining) dropUnusedResults(cluster);
  }

  void visit(fusion::ClusterOp cluster) {
    FoundGroup found = findTileGroup(cluster, flopsPerByte);
    if (found.ops.empty()) return;
    // An operand that is overwritten is in memory as a whole.
    auto writesOver = [](Operation* op) {
      auto cluster = dyn_cast<fusion::ClusterOp>(op);
      return cluster && llvm::any_of(llvm::seq(cluster.getNumResults()),
                                     [&](unsigned result) { return static_cast<bool>(cluster.getUpdate(result)); });
    };
    if (llvm::any_of(found.ops, writesOver)) return found.undo();
    TileGroup group(found.ops);
    if (!isConvex(found.ops) || !group.cut(scratchBytes)) return found.undo();
    OpBuilder builder(found.ops.back());
    builder.setInsertionPointAfter(found.ops.back());
    fusion::TiledOp tiled = writeTiled(builder, group);
    replaced.insert(found.ops.begin(), found.ops.end());
    replaceGroup(group, tiled);
  }

  SmallPtrSet<Operation*, 16> replaced;
};

}  // namespace
