// The pass sgd-shard. Assumes inlined functions of one block with annotations on arguments, results
// and sharding constraints; afterwards every tensor type carries its sharding.
#include "passes/sharding/propagation/passes.h"

#include "dialects/sgd/mesh_name.h"
#include "passes/sharding/propagation/annotations.h"
#include "passes/sharding/propagation/constants.h"
#include "passes/sharding/propagation/host_call_rules.h"
#include "passes/sharding/propagation/linear_algebra_rules.h"
#include "passes/sharding/propagation/loop_reductions.h"
#include "passes/sharding/propagation/materialize.h"
#include "passes/sharding/propagation/propagation.h"
#include "passes/sharding/propagation/resolve_conflicts.h"
#include "passes/sharding/propagation/rules.h"

namespace mlir::sgd {
#define GEN_PASS_DEF_SHARDPASS
#include "passes/sharding/propagation/passes.h.inc"
}  // namespace mlir::sgd

using namespace mlir;
using namespace mlir::sgd;

namespace {
/// The module's mesh; a program without one gets a mesh of one rank.
MeshAxes getOrCreateMesh(ModuleOp module) {
  MeshOp mesh = getMesh(module);
  if (!mesh) {
    OpBuilder builder = OpBuilder::atBlockBegin(module.getBody());
    mesh = MeshOp::create(builder, module.getLoc(), kMeshName, MeshAttr::get(module.getContext(), {}));
  }
  return MeshAxes(FlatSymbolRefAttr::get(mesh.getSymNameAttr()), mesh.getMesh());
}

bool isClosed(ShardingAttr sharding) {
  return llvm::none_of(sharding.getDims(), [](DimShardingAttr dim) { return dim.getIsOpen(); });
}

/// Gives constraints whose value only another, closed constraint sees (the transpose of a gathered parameter, then the
/// gradient's own annotation) what that one asks for: honouring them would build a sharding only to leave it.
void overruleConstraints(ArrayRef<RuledOp> ops, ShardingMap& map) {
  for (const RuledOp& ruled : llvm::reverse(ops)) {
    auto constraint = dyn_cast<ShardingConstraintOp>(ruled.op);
    if (!constraint || !constraint->hasOneUse()) continue;
    auto next = dyn_cast<ShardingConstraintOp>(*constraint->user_begin());
    if (next && isClosed(next.getSharding())) map[constraint.getResult()] = map[next.getResult()];
  }
}

/// Writes the propagated shardings of each op's results beside them: materialisation may type a result otherwise.
void annotate(ArrayRef<RuledOp> ops, const ShardingMap& map, const MeshAxes& mesh) {
  for (const RuledOp& ruled : ops) {
    SmallVector<Attribute> shardings;
    for (Value result : ruled.op->getResults()) {
      const ShardingMap::Entry& entry = map[result];
      shardings.push_back(mesh.toAttr(entry.axes, entry.unreducedKind));
    }
    ruled.op->setAttr("sgd.propagated", ArrayAttr::get(ruled.op->getContext(), shardings));
  }
}

struct ShardPass : sgd::impl::ShardPassBase<ShardPass> {
  using ShardPassBase::ShardPassBase;

  void runOnOperation() override {
    MeshAxes mesh = getOrCreateMesh(getOperation());
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (!function.isExternal() && failed(shard(function, mesh))) return signalPassFailure();
  }

  LogicalResult shard(func::FuncOp function, const MeshAxes& mesh) {
    splitFreeValues(function);
    FailureOr<SmallVector<RuledOp, 0>> ops = collectRules(function);
    if (failed(ops)) return failure();
    FailureOr<ShardingMap> map = propagateShardings(function, *ops, mesh);
    if (failed(map)) return failure();
    keepLoopReductionsPartial(*ops, *map);
    if (resolve) {
      overruleConstraints(*ops, *map);
      numResolved += resolveConflicts(function, *ops, *map);
    }
    if (annotateResults) annotate(*ops, *map, mesh);
    materializeShardings(function, *ops, *map, mesh);
    doubtReshardedCarries(function);
    return success();
  }
};
}  // namespace

void mlir::sgd::registerShardingRules(DialectRegistry& registry) {
  registerElementwiseRules(registry);
  registerIndexRules(registry);
  registerContractionRules(registry);
  registerGatherRules(registry);
  registerHostCallRules(registry);
  registerOrderRules(registry);
  registerLinearAlgebraRules(registry);
}
