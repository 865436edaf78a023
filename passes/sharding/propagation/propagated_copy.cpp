#include "passes/sharding/propagation/propagated_copy.h"

#include "dialects/sgd/tensor_type.h"
#include "passes/sharding/propagation/constants.h"
#include "passes/sharding/propagation/resolve_conflicts.h"

using namespace mlir;
using namespace mlir::sgd;

/// Leaves all dimensions of sharding constraints open.
static void openConstraints(func::FuncOp function, FlatSymbolRefAttr mesh) {
  auto open = DimShardingAttr::get(function.getContext(), {}, /*isOpen=*/true, std::nullopt);
  function.walk([&](ShardingConstraintOp constraint) {
    SmallVector<DimShardingAttr> dims(tensorType(constraint).getRank(), open);
    constraint.setShardingAttr(ShardingAttr::get(function.getContext(), mesh, dims, {}, {}, ReduceKind::Add));
  });
}

void mlir::sgd::shardArgumentsAlone(func::FuncOp function, const MeshAxes& mesh,
                                    llvm::function_ref<std::optional<unsigned>(unsigned argument)> getDim) {
  for (unsigned index = 0; index < function.getNumResults(); ++index) function.removeResultAttr(index, kShardingAttr);
  for (BlockArgument argument : function.getArguments()) {
    unsigned index = argument.getArgNumber();
    function.removeArgAttr(index, kShardingAttr);
    std::optional<unsigned> dim = getDim(index);
    if (!dim) continue;
    TensorAxes axes;
    axes.dims.resize(tensorType(argument).getRank());
    axes.dims[*dim].axes.push_back({0, 1, mesh.getMesh().getNumRanks()});
    function.setArgAttr(index, kShardingAttr, mesh.toAttr(axes));
  }
  openConstraints(function, mesh.getName());
}

PropagatedCopy::PropagatedCopy(func::FuncOp function, const MeshAxes& mesh,
                               llvm::function_ref<void(func::FuncOp)> prepare)
    : copy(cast<func::FuncOp>(function->clone(mapping))) {
  prepare(*copy);
  splitFreeValues(*copy);
  FailureOr<SmallVector<RuledOp, 0>> rules = collectRules(*copy);
  if (failed(rules)) return;
  ops = std::move(*rules);
  FailureOr<ShardingMap> map = propagateShardings(*copy, ops, mesh);
  if (succeeded(map)) shardings = std::move(*map);
}

void PropagatedCopy::resolveConflicts() { mlir::sgd::resolveConflicts(*copy, ops, *shardings); }
