// One program after another, each before the bodies of its loops and branches.
#include "llvm/ADT/StringSwitch.h"
#include "passes/plan/memory/spaces.h"
#include "passes/plan/recompute/passes.h"
#include "passes/plan/recompute/plan_steps.h"
#include "passes/plan/recompute/recompute_search.h"
#include "passes/sharding/reshard/sharding_state.h"

namespace mlir::sgd {
#define GEN_PASS_DEF_RECOMPUTEPASS
#include "passes/plan/recompute/passes.h.inc"
}  // namespace mlir::sgd

using namespace mlir;
using namespace mlir::sgd;

namespace {

SmallVector<func::FuncOp> getPrograms(ModuleOp module) {
  SmallVector<func::FuncOp> programs;
  for (auto function : module.getOps<func::FuncOp>())
    if (!function.isExternal() && !function.isPrivate()) programs.push_back(function);
  return programs;
}

FailureOr<OffloadScope> getScope(ModuleOp module, StringRef offload) {
  std::optional<OffloadScope> scope = llvm::StringSwitch<std::optional<OffloadScope>>(offload)
                                          .Case("never", OffloadScope{false, false})
                                          .Case("states", OffloadScope{false, true})
                                          .Case("activations", OffloadScope{true, false})
                                          .Case("all", OffloadScope{true, true})
                                          .Default(std::nullopt);
  if (!scope)
    return module.emitError() << "option 'offload' is '" << offload
                              << "'; expected 'never', 'states', 'activations' or 'all'; correct it";
  return *scope;
}

struct RecomputePass : mlir::sgd::impl::RecomputePassBase<RecomputePass> {
  using RecomputePassBase::RecomputePassBase;

  void runOnOperation() final {
    FailureOr<CostModel> cost = loadCosts(getOperation(), topologyName);
    FailureOr<OffloadScope> scope = getScope(getOperation(), offload);
    if (failed(cost) || failed(scope)) return signalPassFailure();
    OpTimes times(getOperation(), *cost);
    for (func::FuncOp function : getPrograms(getOperation()))
      if (failed(recompute(function, times, static_cast<int64_t>(budget), *scope))) return signalPassFailure();
  }

  /// First what is alive while a loop or a branch runs is lowered, then, as far as that is not enough, what it needs
  /// itself.
  LogicalResult recompute(func::FuncOp function, const OpTimes& times, int64_t budget, OffloadScope scope = {}) {
    if (failed(checkIsPlan(function))) return failure();
    SymbolTable kernels(getOperation());
    PlanSteps steps(function, times, kernels, scope);
    remat::Units units(steps.getSequence());
    remat::Timeline timeline = remat::chooseRecomputation(steps.getSequence(), units, budget);
    SmallVector<std::pair<func::FuncOp, int64_t>> callees;  // and their budgets
    for (size_t position = 0; position < timeline.size(); ++position) {
      if (timeline[position].isCopy()) continue;
      int64_t scratch = steps.getSequence().steps[timeline[position].step].scratchBytes;
      int64_t over = timeline.getAlive(static_cast<int>(position)) - budget;
      if (scratch == 0 || over <= 0) continue;
      for (func::FuncOp callee : plan::getCallees(steps.getOp(timeline[position].step)))
        callees.push_back({callee, std::max<int64_t>(scratch - over, 0)});
    }
    steps.apply(timeline);
    for (auto [callee, calleeBudget] : callees)
      if (failed(recompute(callee, times, calleeBudget))) return failure();
    return success();
  }
};

int64_t getPeak(const remat::StepSequence& sequence, const remat::Units& units) {
  return remat::Timeline(sequence, units).getPeak();
}

/// The smallest budget that the search meets, to a part in 256 of the peak.
int64_t findLeast(const remat::StepSequence& sequence, const remat::Units& units) {
  const int64_t peak = getPeak(sequence, units);
  int64_t met = peak, missed = 0;
  while (met - missed > std::max<int64_t>(peak / 256, 64)) {
    int64_t budget = missed + (met - missed) / 2;
    int64_t reached = remat::chooseRecomputation(sequence, units, budget).getPeak();
    (reached <= budget ? met : missed) = budget;
  }
  return met;
}

/// The largest of what `measure` says of the programs.
template <typename Measure>
FailureOr<int64_t> getMost(ModuleOp plan, StringRef topologyName, StringRef offload, Measure measure) {
  FailureOr<CostModel> cost = loadCosts(plan, topologyName);
  FailureOr<OffloadScope> scope = getScope(plan, offload);
  if (failed(cost) || failed(scope)) return failure();
  SymbolTable kernels(plan);
  OpTimes times(plan, *cost);
  int64_t most = 0;
  for (func::FuncOp function : getPrograms(plan)) {
    PlanSteps steps(function, times, kernels, *scope);
    most = std::max(most, measure(steps.getSequence(), remat::Units(steps.getSequence())));
  }
  return most;
}

}  // namespace

FailureOr<int64_t> mlir::sgd::estimateAliveBytes(ModuleOp plan, StringRef topologyName, StringRef offload) {
  return getMost(plan, topologyName, offload, getPeak);
}

FailureOr<int64_t> mlir::sgd::findLeastBudget(ModuleOp plan, StringRef topologyName, StringRef offload) {
  return getMost(plan, topologyName, offload, findLeast);
}
