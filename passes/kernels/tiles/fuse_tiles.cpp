// Replaces groups of contractions and clusters by fusion.tiled, later groups first: what they compute again need not be
// kept by earlier ones.
#include "dialects/fusion/fusion_dialect.h"
#include "dialects/spmd/program_order.h"
#include "dialects/spmd/spmd_dialect.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "passes/kernels/tiles/passes.h"
#include "passes/kernels/tiles/tile_finder.h"
#include "passes/kernels/tiles/tile_writer.h"

namespace mlir::sgd {
#define GEN_PASS_DEF_FUSETILESPASS
#include "passes/kernels/tiles/passes.h.inc"
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
  bool movesOrdered = false;  // messages and host calls keep their order
  for (Operation* op = group.ops.front(); op != tiled;) {
    Operation* next = op->getNextNode();
    bool keepsOrder = spmd::keepsOrder(op);
    bool depends = (keepsOrder && movesOrdered) || llvm::any_of(op->getOperands(), [&](Value operand) {
                     return moved.contains(operand.getDefiningOp());
                   });
    if (depends && !group.contains(op)) {
      movesOrdered |= keepsOrder;
      op->moveAfter(position);
      moved.insert(op);
      position = op;
    }
    op = next;
  }
  for (Operation* op : llvm::reverse(group.ops)) op->erase();
}

/// Computes the rank's coordinates that the cluster reads before it: a tile's kernels are the same on all ranks.
fusion::ClusterOp passCoordinates(fusion::ClusterOp cluster) {
  SmallVector<spmd::PartitionIdOp> ids(cluster.getBody().front().getOps<spmd::PartitionIdOp>());
  if (ids.empty()) return cluster;
  OpBuilder builder(cluster);
  SmallVector<Value> inputs(cluster.getInputs());
  for (spmd::PartitionIdOp id : ids) {
    auto source = fusion::ClusterOp::create(builder, id.getLoc(), id->getResultTypes(), ValueRange());
    OpBuilder inside = OpBuilder::atBlockBegin(&source.getBody().emplaceBlock());
    fusion::YieldOp::create(inside, id.getLoc(), inside.clone(*id)->getResults());
    inputs.push_back(source.getResult(0));
    id.replaceAllUsesWith(cluster.getBody().front().addArgument(id.getType(), id.getLoc()));
    id.erase();
  }
  auto larger = fusion::ClusterOp::create(builder, cluster.getLoc(), cluster.getResultTypes(), inputs);
  larger.getBody().takeBody(cluster.getBody());
  larger->setDiscardableAttrs(cluster->getDiscardableAttrDictionary());
  cluster.replaceAllUsesWith(larger.getResults());
  cluster.erase();
  return larger;
}

/// Clusters of the group, or those that they are clones of, which read the rank's coordinates.
SmallVector<fusion::ClusterOp> getClustersOfRank(const FoundGroup& group) {
  SmallVector<fusion::ClusterOp> ofRank;
  for (Operation* op : group.ops) {
    for (auto [copy, original] : group.originals)
      if (copy == op) op = original;
    if (auto cluster = dyn_cast<fusion::ClusterOp>(op))
      if (!cluster.getBody().front().getOps<spmd::PartitionIdOp>().empty()) ofRank.push_back(cluster);
  }
  return ofRank;
}

struct FuseTilesPass : mlir::sgd::impl::FuseTilesPassBase<FuseTilesPass> {
  using FuseTilesPassBase::FuseTilesPassBase;

  void runOnOperation() final {
    func::FuncOp function = getOperation();
    if (function.isExternal() || !llvm::hasSingleElement(function.getBody()) || scratchBytes <= 0) return;
    for (Block* block : getProgramBlocks(function)) llvm::append_range(clusters, block->getOps<fusion::ClusterOp>());
    for (size_t number = clusters.size(); number-- > 0;)
      if (!replaced.contains(clusters[number])) visit(clusters[number]);
    replaced.clear();
    clusters.clear();
    SmallVector<fusion::ClusterOp> remaining;
    function.walk([&](fusion::ClusterOp cluster) { remaining.push_back(cluster); });
    for (fusion::ClusterOp cluster : remaining) dropUnusedResults(cluster);
  }

  void visit(fusion::ClusterOp cluster) {
    FoundGroup found = findTileGroup(cluster, flopsPerByte);
    if (found.ops.empty()) return;
    SmallVector<fusion::ClusterOp> ofRank = getClustersOfRank(found);
    if (!ofRank.empty()) {
      found.undo();
      for (fusion::ClusterOp& old : clusters)
        if (llvm::is_contained(ofRank, old)) {
          fusion::ClusterOp larger = passCoordinates(old);
          if (old == cluster) cluster = larger;
          old = larger;
        }
      found = findTileGroup(cluster, flopsPerByte);
    }
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

  SmallVector<fusion::ClusterOp> clusters;
  SmallPtrSet<Operation*, 16> replaced;
};

}  // namespace
