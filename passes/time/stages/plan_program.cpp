// Stages of parameters, then the plan of the schedule that the mesh names.
#include "passes/time/stages/plan_program.h"

#include "dialects/sgd/stages.h"
#include "passes/time/stages/balance.h"
#include "passes/time/stages/idle_stage.h"

using namespace mlir;
using namespace mlir::sgd;

static DenseMap<Value, unsigned> findGiven(func::FuncOp function) {
  DenseMap<Value, unsigned> given;
  for (BlockArgument argument : function.getArguments())
    if (auto stage = function.getArgAttrOfType<IntegerAttr>(argument.getArgNumber(), kStageAttr))
      given[argument] = static_cast<unsigned>(stage.getInt());
  return given;
}

/// The first of so many stages that has no parameter, or -1.
static int findIdleStage(const DenseMap<Value, unsigned>& stages, unsigned numStages) {
  llvm::BitVector covered(numStages);
  for (auto [parameter, stage] : stages) covered.set(stage);
  return covered.find_first_unset();
}

LogicalResult ProgramPlan::checkGiven(const PipelineForm& form) {
  unsigned numStages = form.getNumVirtualStages();
  StringRef noun = getVirtualStageNoun(form);
  for (BlockArgument argument : function.getArguments())
    if (auto found = given.find(argument); found != given.end() && found->second >= numStages)
      return mlir::emitError(argument.getLoc())
             << "argument " << argument.getArgNumber() << " is on " << noun << " " << found->second << " of "
             << numStages << "; expected 0 to " << numStages - 1 << "; correct '" << kStageAttr
             << "', or the number of " << noun << "s";
  return success();
}

ProgramPlan::ProgramPlan(func::FuncOp function, MeshOp mesh)
    : function(function),
      axis(getActiveSequentialAxis(mesh)),
      given(findGiven(function)),
      loops(function, mesh.getMesh(), axis),
      flow(function, loops, axis, given) {}

LogicalResult ProgramPlan::create(MeshOp mesh, const OpTimes& times) {
  auto asked = mesh->getAttrOfType<StringAttr>(kScheduleAttr);
  StringRef name = getScheduleChoices(asked ? asked.getValue() : StringRef()).front();
  llvm::Expected<PipelineForm> form = parseSchedule(name, static_cast<unsigned>(getStageAxis(mesh).getSize()));
  if (!form) return mesh.emitError() << llvm::toString(form.takeError());
  if (failed(checkGiven(*form))) return failure();
  SmallVector<Piece> pieces;
  if (given.empty()) pieces = getPieces(flow, times);
  unsigned numVirtual = form->getNumVirtualStages();
  stages = placeParameters(flow, given, numVirtual, pieces);
  // Found before a plan of thousands of stages is made. With a parameter each, what is computed says it better.
  int idle = findIdleStage(stages, numVirtual);
  if (idle >= 0 && usesAllStages(flow) && numVirtual > stages.size()) return emitIdleStage(flow, times, idle, *form);
  return create(*form, times);
}

LogicalResult ProgramPlan::createAs(const ProgramPlan& before, const OpTimes& times) {
  stages = before.stages;
  return create(before.plan->getForm(), times);
}

LogicalResult ProgramPlan::create(const PipelineForm& form, const OpTimes& times) {
  llvm::Expected<std::unique_ptr<PipelinePlan>> made = PipelinePlan::create(flow, stages, form, getNumParts(), times);
  if (!made) return function.emitError() << llvm::toString(made.takeError());
  plan = std::move(*made);
  return success();
}
