#include "passes/context/propagated_copy.h"

#include "passes/sharding/constants.h"
#include "passes/sharding/resolve_conflicts.h"

using namespace mlir;
using namespace mlir::sgd;

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
