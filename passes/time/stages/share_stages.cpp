// The pass sgd-share-stages.
#include "dialects/sgd/programs.h"
#include "dialects/sgd/stages.h"
#include "passes/graph/carry/carry_attrs.h"
#include "passes/sharding/reshard/sharding_state.h"
#include "passes/time/stages/passes.h"
#include "passes/time/stages/plan_program.h"
#include "passes/time/stages/shared_state.h"

namespace mlir::sgd {
#define GEN_PASS_DEF_SHARESTAGESPASS
#include "passes/time/stages/passes.h.inc"
}  // namespace mlir::sgd

using namespace mlir;
using namespace mlir::sgd;

/// Marks what `step` has, on its arguments.
static void mark(func::FuncOp step, const ProgramPlan& plan) {
  Builder builder(step.getContext());
  const ProgramFlow& flow = plan.get().getFlow();
  for (BlockArgument argument : step.getArguments())
    if (!flow.isShared(argument))
      step.setArgAttr(argument.getArgNumber(), kStageAttr,
                      builder.getI64IntegerAttr(plan.get().getPlacement().get(argument).find_first()));
}

/// Marks what `other` shares with `step`: what it starts from, and what it makes for it.
static void markLike(func::FuncOp step, func::FuncOp other) {
  SharedState shared = findSharedState(step, other);
  for (auto [from, to] : shared.arguments)
    if (Attribute stage = step.getArgAttr(from, kStageAttr)) other.setArgAttr(to, kStageAttr, stage);
  for (auto [from, to] : shared.results)
    if (Attribute stage = step.getArgAttr(to, kStageAttr)) other.setResultAttr(from, kStageAttr, stage);
}

namespace {
struct ShareStagesPass : mlir::sgd::impl::ShareStagesPassBase<ShareStagesPass> {
  using ShareStagesPassBase::ShareStagesPassBase;

  void runOnOperation() override {
    SmallVector<ModuleOp> programs = getPrograms(getOperation());
    MeshOp mesh = getMesh(programs.front());
    if (programs.size() < 2 || !getStageAxis(mesh)) return;
    SmallVector<func::FuncOp> functions = getProgramFunctions(programs);
    auto* step = llvm::find_if(functions, [](func::FuncOp function) { return carriesState(function); });
    if (step == functions.end()) return;
    mesh = getMesh((*step)->getParentOfType<ModuleOp>());
    FailureOr<CostModel> cost = loadCostModel(mesh, topology);
    ProgramPlan plan(*step, mesh);
    if (failed(cost) || failed(plan.create(mesh, OpTimes(mesh, *cost)))) return signalPassFailure();
    mark(*step, plan);
    auto schedule = StringAttr::get(&getContext(), getScheduleName(plan.get().getForm()));
    for (auto [program, function] : llvm::zip(programs, functions)) {
      getMesh(program)->setAttr(kScheduleAttr, schedule);
      if (function != *step) markLike(*step, function);
    }
  }
};
}  // namespace
