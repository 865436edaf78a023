// The pass sgd-plan-within-limit.
#include "compiler/search/memory_search.h"
#include "compiler/search/passes.h"

namespace mlir::sgd {
#define GEN_PASS_DEF_PLANWITHINLIMITPASS
#include "compiler/search/passes.h.inc"
}  // namespace mlir::sgd

using namespace mlir;
using namespace mlir::sgd;

namespace {
struct PlanWithinLimitPass : mlir::sgd::impl::PlanWithinLimitPassBase<PlanWithinLimitPass> {
  using PlanWithinLimitPassBase::PlanWithinLimitPassBase;

  void getDependentDialects(DialectRegistry& registry) const override { addDialectsOfStages(registry); }

  void runOnOperation() override {
    auto run = [this](OpPassManager& passes) { return runPipeline(passes, getOperation()); };
    FailureOr<Alternatives> alternatives = Alternatives::create(getOperation(), text, run);
    if (failed(alternatives) || failed(choose(*alternatives))) signalPassFailure();
  }

 private:
  LogicalResult choose(const Alternatives& alternatives) {
    if (!alternatives.getOptions().memoryLimit)
      return getOperation().emitError() << "has no memory limit; expected one in its request; compile with "
                                           "--memory-limit, or leave this pass out";
    OwningOpRef<ModuleOp> hidden = alternatives.take();
    OwningOpRef<ModuleOp> local = hidden->clone();
    if (failed(alternatives.hideAndLower(*hidden))) return failure();
    FailureOr<OwningOpRef<ModuleOp>> best = findPlanWithinLimit(alternatives, *local, std::move(hidden));
    if (failed(best)) return failure();
    alternatives.choose(std::move(*best));
    return success();
  }
};
}  // namespace
