// State of several programs is on the stages on which the step has it.
#include "dialects/sgd/stages.h"
#include "passes/carry/carry_attrs.h"
#include "passes/partition/sharding_state.h"
#include "passes/stages/plan_program.h"
#include "passes/stages/shared_state.h"

using namespace mlir;
using namespace mlir::sgd;

namespace {
func::FuncOp getFunction(ModuleOp program) { return *program.getOps<func::FuncOp>().begin(); }

/// Marks what `step` has, on its arguments.
void mark(func::FuncOp step, const ProgramPlan& plan) {
  Builder builder(step.getContext());
  const ProgramFlow& flow = plan.get().getFlow();
  for (BlockArgument argument : step.getArguments())
    if (!flow.isShared(argument))
      step.setArgAttr(argument.getArgNumber(), kStageAttr,
                      builder.getI64IntegerAttr(plan.get().getPlacement().get(argument).find_first()));
}

/// Marks what `other` shares with `step`: what it starts from, and what it makes for it.
void markLike(func::FuncOp step, func::FuncOp other) {
  SharedState shared = findSharedState(step, other);
  for (auto [from, to] : shared.arguments)
    if (Attribute stage = step.getArgAttr(from, kStageAttr)) other.setArgAttr(to, kStageAttr, stage);
  for (auto [from, to] : shared.results)
    if (Attribute stage = step.getArgAttr(to, kStageAttr)) other.setResultAttr(from, kStageAttr, stage);
}
}  // namespace

LogicalResult mlir::sgd::shareStages(ArrayRef<ModuleOp> programs, StringRef topology) {
  const auto* found = llvm::find_if(programs, [](ModuleOp program) { return carriesState(getFunction(program)); });
  if (programs.size() < 2 || found == programs.end() || !getStageAxis(getMesh(programs.front()))) return success();
  func::FuncOp step = getFunction(*found);
  MeshOp mesh = getMesh(*found);
  FailureOr<CostModel> cost = loadCostModel(mesh, topology);
  if (failed(cost)) return failure();
  ProgramPlan plan(step, mesh);
  if (failed(plan.create(mesh, OpTimes(mesh, *cost)))) return failure();
  mark(step, plan);
  auto schedule = StringAttr::get(step.getContext(), getScheduleName(plan.get().getForm()));
  for (ModuleOp program : programs) {
    getMesh(program)->setAttr(kScheduleAttr, schedule);
    if (program != *found) markLike(step, getFunction(program));
  }
  return success();
}
