// The pass spmd-verify. Groups are axes of the mesh, so they partition the ranks when the axes are distinct parts of
// it. Every rank issues the same sequence of collectives whatever spmd.partition_id is, since a collective is in the
// function's one block, or in a loop or branch that all ranks run alike: the predicate is proved not to differ between
// ranks. Loops and branches that ranks decide alone are marked sgd.by_rank and must hold no collective.
#include "dialects/sgd/by_rank.h"
#include "dialects/spmd/collective.h"
#include "passes/spmd/collectives/passes.h"
#include "passes/spmd/collectives/rank_differences.h"

namespace mlir::sgd {
#define GEN_PASS_DEF_VERIFYSPMDPASS
#include "passes/spmd/collectives/passes.h.inc"
}  // namespace mlir::sgd

using namespace mlir;
using namespace mlir::sgd;

/// Fails when `axes` are not distinct parts of axes of their mesh.
static LogicalResult verifyAxes(Operation* op, AxisListAttr list) {
  MeshAttr mesh = lookupMesh(op, list.getMesh());
  if (!mesh)
    return op->emitOpError() << "names the unknown mesh " << list.getMesh()
                             << "; expected the module's mesh; name that one";
  auto asSharding = ShardingAttr::get(op->getContext(), list.getMesh(), {}, list.getAxes(), {}, ReduceKind::Add);
  return asSharding.verifyAgainst(mesh, {},
                                  [&] { return op->emitOpError() << "has groups that do not partition the ranks: "; });
}

/// Senders and receivers must be the same ranks in another order: the same sub-axes of the same axes.
static LogicalResult verifyPermute(Operation* op, const spmd::CollectiveForm& form) {
  MeshAttr mesh = lookupMesh(op, form.group.getMesh());
  auto getDigits = [&](AxisListAttr list) {
    AxisParts parts;
    for (AxisRefAttr ref : list.getAxes()) parts.push_back(getPart(mesh, ref));
    llvm::sort(parts, [](const AxisPart& a, const AxisPart& b) {
      return std::tie(a.axis, a.begin) < std::tie(b.axis, b.begin);
    });
    return merged(parts);
  };
  if (form.from.getMesh() != form.group.getMesh() || getDigits(form.from) != getDigits(form.group))
    return op->emitOpError() << "goes from " << form.from << " to " << form.group
                             << ", which are not the same axes in another order; expected the ranks of one group to "
                                "permute; name the same axes on both sides";
  return success();
}

static LogicalResult verifyCollective(spmd::CollectiveOpInterface op) {
  if (!isa<func::FuncOp>(op->getParentOp()) && !isControlFlow(op->getParentOp()))
    return op->emitOpError() << "stands inside '" << op->getParentOp()->getName()
                             << "': whether it runs could differ between ranks; expected collectives in functions, "
                                "loops and branches alone; move it out";
  for (Operation* around = op->getParentOp(); !isa<func::FuncOp>(around); around = around->getParentOp())
    if (isByRank(around))
      return op->emitOpError() << "stands in a '" << around->getName()
                               << "' that ranks decide about alone: whether it runs differs between ranks; expected a "
                                  "condition that all ranks agree on; reduce the condition over the ranks first";
  spmd::CollectiveForm form = op.getForm();
  for (AxisListAttr axes : {form.group, form.to, form.from})
    if (axes && failed(verifyAxes(op, axes))) return failure();
  return form.from ? verifyPermute(op, form) : success();
}

static LogicalResult verifyNoSharding(Operation* op, Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor || !tensor.getEncoding()) return success();
  return op->emitOpError()
         << "still has the type " << type
         << ", whose sharding sgd-localize should have removed; expected a local type; run sgd-localize first";
}

static LogicalResult verifyOp(Operation* op) {
  for (Type type : op->getResultTypes())
    if (failed(verifyNoSharding(op, type))) return failure();
  for (Region& region : op->getRegions())
    for (Block& block : region)
      for (Type type : block.getArgumentTypes())
        if (failed(verifyNoSharding(op, type))) return failure();
  if (auto slice = dyn_cast<spmd::ShardSliceOp>(op)) return verifyAxes(op, slice.getAxes());
  if (auto id = dyn_cast<spmd::PartitionIdOp>(op)) return verifyAxes(op, id.getAxes());
  auto collective = dyn_cast<spmd::CollectiveOpInterface>(op);
  return collective ? verifyCollective(collective) : success();
}

static bool hasCollectives(Operation* op) {
  return op
      ->walk([](Operation* op) {
        return isa<spmd::CollectiveOpInterface>(op) ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

/// Whether ranks run a loop or branch with collectives in it must be the same on all of them.
static LogicalResult verifyDecisions(func::FuncOp function, RankDifferences::Messages& messages) {
  AxisListAttr group;
  SmallVector<Operation*> ops;
  function.walk([&](Operation* op) {
    if (auto collective = dyn_cast<spmd::CollectiveOpInterface>(op)) group = collective.getGroup();
    if (isControlFlow(op) && hasCollectives(op)) ops.push_back(op);
  });
  if (ops.empty()) return success();
  MeshAttr mesh = lookupMesh(function, group.getMesh());
  RankDifferences differences(function, mesh, messages);
  for (Operation* op : ops) {
    AxisParts deciding = differences.getDeciding(op);
    if (deciding.empty()) continue;
    return op->emitOpError() << "has collectives, and " << (isa<WhileOp>(op) ? "its predicate" : "its index")
                             << " may differ between ranks along " << getAxisList(group.getMesh(), mesh, deciding)
                             << "; expected the same on all ranks; reduce what decides over these axes, or move the "
                                "collectives out";
  }
  return success();
}

static LogicalResult verifyFunction(func::FuncOp function, RankDifferences::Messages& messages) {
  if (hasCollectives(function) && !llvm::hasSingleElement(function.getBody()))
    return function.emitOpError(
        "has collectives and several blocks: their order could differ between ranks; expected one block; use sgd.while "
        "and sgd.case for control flow");
  WalkResult result = function.walk(
      [](Operation* op) { return failed(verifyOp(op)) ? WalkResult::interrupt() : WalkResult::advance(); });
  return result.wasInterrupted() ? failure() : verifyDecisions(function, messages);
}

namespace {
struct VerifySpmdPass : mlir::sgd::impl::VerifySpmdPassBase<VerifySpmdPass> {
  void runOnOperation() override {
    MeshOp mesh = getMesh(getOperation());
    RankDifferences::Messages messages =
        RankDifferences::findMessages(getOperation(), mesh ? mesh.getMesh() : MeshAttr());
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (failed(verifyFunction(function, messages))) return signalPassFailure();
  }
};
}  // namespace
