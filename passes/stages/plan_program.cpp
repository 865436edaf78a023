// Schedules that are compared by their simulated times.
#include "passes/stages/plan_program.h"

#include <cmath>

#include "dialects/sgd/stages.h"
#include "passes/stages/balance.h"
#include "passes/stages/idle_stage.h"

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

LogicalResult ProgramPlan::choose(MeshOp mesh, const CostModel& cost) {
  auto numStages = static_cast<unsigned>(getStageAxis(mesh).getSize());
  auto asked = mesh->getAttrOfType<StringAttr>(kScheduleAttr);
  std::vector<StringRef> names = getScheduleChoices(asked ? asked.getValue() : StringRef());
  SmallVector<Piece> pieces;
  if (given.empty()) pieces = getPieces(flow, cost);
  for (StringRef name : names) {
    llvm::Expected<PipelineForm> form = parseSchedule(name, numStages);
    if (!form) return mesh.emitError() << llvm::toString(form.takeError());
    // Who says what is on which stage says how many chunks there are.
    if (names.size() > 1 && form->numChunks > 1 && !given.empty()) continue;
    unsigned numVirtual = form->getNumVirtualStages();
    if (failed(checkGiven(*form))) return failure();
    DenseMap<Value, unsigned> placed = placeParameters(flow, given, numVirtual, pieces);
    int idle = findIdleStage(placed, numVirtual);
    if (names.size() > 1 && form->numChunks > 1 && idle >= 0) continue;
    // Found before a plan of thousands of stages is made. With a parameter each, what is computed says it better.
    if (idle >= 0 && loops.getNumLoops() > 0 && numVirtual > placed.size())
      return emitIdleStage(flow, cost, idle, *form);
    llvm::Expected<std::unique_ptr<PipelinePlan>> next = PipelinePlan::create(flow, placed, *form, getNumParts(), cost);
    if (!next) return function.emitError() << llvm::toString(next.takeError());
    constexpr double kGain = 0.99;
    if (plan && (*next)->getTimes().seconds >= kGain * plan->getTimes().seconds) continue;
    plan = std::move(*next);
    stages = std::move(placed);
  }
  return success();
}

LogicalResult ProgramPlan::chooseAs(const ProgramPlan& before, const CostModel& cost) {
  stages = before.stages;
  llvm::Expected<std::unique_ptr<PipelinePlan>> next =
      PipelinePlan::create(flow, stages, before.plan->getForm(), getNumParts(), cost);
  if (!next) return function.emitError() << llvm::toString(next.takeError());
  plan = std::move(*next);
  return success();
}

void ProgramPlan::remarkChoice(MeshOp mesh) const {
  auto asked = mesh->getAttrOfType<StringAttr>(kScheduleAttr);
  if (getScheduleChoices(asked ? asked.getValue() : StringRef()).size() == 1 || loops.getNumLoops() == 0) return;
  mlir::emitRemark(function->getLoc()) << "schedule '" << getScheduleName(plan->getForm()) << "' is the fastest, with "
                                       << std::lround(100 * plan->getTimes().getBubble()) << " % of the time waited";
}
