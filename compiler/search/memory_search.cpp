// Ways to lower the programs that need ever less memory; the plans of each are compared by fit_memory.
#include "compiler/search/memory_search.h"

#include "compiler/pipelines/pipelines.h"
#include "compiler/search/fit_memory.h"
#include "dialects/sgd/decision.h"
#include "dialects/sgd/programs.h"
#include "passes/time/recompute/passes.h"

using namespace mlir;
using namespace mlir::sgd;

/// Ways to recompute in loops that are looked at, the last one all that can be.
static constexpr unsigned kMostLoopForms = 6;

namespace {

class MemorySearch {
 public:
  MemorySearch(const Alternatives& alternatives, ModuleOp local)
      : alternatives(alternatives), local(local), limit(*alternatives.getOptions().memoryLimit) {}

  FailureOr<MemoryPlan> run(OwningOpRef<ModuleOp> hidden);

 private:
  FailureOr<MemoryPlan> plan(ArrayRef<ModuleOp> forms, Effort effort = Effort::Limit) const {
    return planForms(forms, alternatives.getOptions(), alternatives, effort);
  }
  bool fits(const MemoryPlan& plan) const { return plan.isGiven && plan.fits(limit); }
  LogicalResult addForm(llvm::function_ref<void(OpPassManager&)> change);
  LogicalResult addLoopForms();
  SmallVector<ModuleOp> getForms() const;

  const Alternatives& alternatives;
  ModuleOp local;
  const uint64_t limit;
  SmallVector<OwningOpRef<ModuleOp>> forms;  // with buffers; as given, and with ever more of loops recomputed
};

}  // namespace

/// Whether the program holds more than it must, to be faster.
static bool hidesMore(ModuleOp module) {
  return llvm::any_of(module.getOps<func::FuncOp>(), [](func::FuncOp function) {
    return llvm::any_of(getDecisions(function), [](const Decision& decision) {
      return decision.kind == DecisionKind::Hoist || decision.kind == DecisionKind::Prefetch ||
             decision.kind == DecisionKind::Ring || decision.kind == DecisionKind::Pack;
    });
  });
}

/// Adds what comes of `local` after the passes that `change` adds.
LogicalResult MemorySearch::addForm(llvm::function_ref<void(OpPassManager&)> change) {
  OwningOpRef<ModuleOp> form = local.clone();
  if (failed(alternatives.runStage(*form, change)) ||
      failed(alternatives.lowerToBuffers(*form, /*packsWeights=*/false)))
    return failure();
  forms.push_back(std::move(form));
  return success();
}

LogicalResult MemorySearch::addLoopForms() {
  const PlanOptions& options = alternatives.getOptions();
  unsigned steps = 0;
  for (ModuleOp program : getPrograms(local)) {
    FailureOr<unsigned> count = countLoopSteps(program, options.topology);
    if (failed(count)) return failure();
    steps = std::max(steps, *count);
  }
  const unsigned added = std::min(steps, kMostLoopForms);
  for (unsigned form = 1; form <= added; ++form)
    if (failed(
            addForm([&](OpPassManager& passes) { addLoopRecomputationStage(passes, options, steps * form / added); })))
      return failure();
  return success();
}

SmallVector<ModuleOp> MemorySearch::getForms() const {
  return llvm::map_to_vector(
      forms, [](const OwningOpRef<ModuleOp>& form) { return const_cast<OwningOpRef<ModuleOp>&>(form).get(); });
}

FailureOr<MemoryPlan> MemorySearch::run(OwningOpRef<ModuleOp> hidden) {
  const PlanOptions& options = alternatives.getOptions();
  const bool mayHoldLess = hidesMore(*hidden);
  forms.push_back(std::move(hidden));
  FailureOr<MemoryPlan> best = plan(getForms(), mayHoldLess ? Effort::Given : Effort::Limit);
  if (succeeded(best) && mayHoldLess && !fits(*best)) {
    forms.clear();
    if (failed(addForm([&](OpPassManager& passes) { addPlainStage(passes, options); }))) return failure();
    best = plan(getForms());
  }
  if (failed(best) || (!fits(*best) && failed(addLoopForms()))) return failure();
  SmallVector<ModuleOp> all = getForms();
  if (all.size() > 1) {
    FailureOr<MemoryPlan> other = plan(ArrayRef(all).drop_front());
    if (failed(other)) return failure();
    if (other->isBetterThan(*best, limit)) best = std::move(other);
  }
  return best->fits(limit) ? std::move(best) : planSmallest(all, options, alternatives);
}

FailureOr<OwningOpRef<ModuleOp>> mlir::sgd::findPlanWithinLimit(const Alternatives& alternatives, ModuleOp local,
                                                                OwningOpRef<ModuleOp> hidden) {
  FailureOr<MemoryPlan> plan = MemorySearch(alternatives, local).run(std::move(hidden));
  if (failed(plan)) return failure();
  return std::move(plan->module);
}
