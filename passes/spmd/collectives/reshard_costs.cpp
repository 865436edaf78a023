// Asks the reshard planner once per question.
#include "passes/spmd/collectives/reshard_costs.h"

#include "passes/sharding/reshard/sharding_state.h"

using namespace mlir;
using namespace mlir::sgd;

std::optional<ReshardCost> ReshardCosts::get(RankedTensorType from, RankedTensorType to) {
  if (from == to) return ReshardCost{};
  auto [entry, isNew] = known.try_emplace({from, to}, std::nullopt);
  if (!isNew) return entry->second;
  llvm::Expected<ReshardPlan> plan =
      planner.plan(from.getShape(), getElementBytes(from.getElementType()),
                   getShardState(mesh, mlir::sgd::getSharding(from)), getShardState(mesh, mlir::sgd::getSharding(to)));
  if (!plan) {
    llvm::consumeError(plan.takeError());
    return std::nullopt;
  }
  return entry->second = ReshardCost{plan->sentBytes, plan->seconds};
}
