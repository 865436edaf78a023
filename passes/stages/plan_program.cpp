// Schedules that are compared by their simulated times.
#include "passes/stages/plan_program.h"

#include <cmath>

#include "dialects/sgd/stages.h"
#include "passes/stages/balance.h"

using namespace mlir;
using namespace mlir::sgd;

static DenseMap<Value, unsigned> findGiven(func::FuncOp function) {
  DenseMap<Value, unsigned> given;
  for (BlockArgument argument : function.getArguments())
    if (auto stage = function.getArgAttrOfType<IntegerAttr>(argument.getArgNumber(), kStageAttr))
      given[argument] = static_cast<unsigned>(stage.getInt());
  return given;
}

/// Whether each of so many stages has a parameter.
static bool coversStages(const DenseMap<Value, unsigned>& stages, unsigned numStages) {
  llvm::BitVector covered(numStages);
  for (auto [parameter, stage] : stages) covered.set(stage);
  return covered.all();
}

ProgramPlan::ProgramPlan(func::FuncOp function, MeshOp mesh)
    : function(function),
      axis(getActiveSequentialAxis(mesh)),
      given(findGiven(function)),
      loops(function, mesh.getMesh(), axis),
      flow(function, loops, axis, given) {}

LogicalResult ProgramPlan::choose(MeshOp mesh, const CostModel& cost) {
  auto numStages = static_cast<unsigned>(getStageAxis(mesh).getSize());
  auto numParts = static_cast<unsigned>(axis ? axis.getSize() : 1);
  auto asked = mesh->getAttrOfType<StringAttr>(kScheduleAttr);
  std::vector<StringRef> names = getScheduleChoices(asked ? asked.getValue() : StringRef());
  SmallVector<Piece> pieces;
  if (given.empty()) pieces = getPieces(flow, cost);
  for (StringRef name : names) {
    llvm::Expected<PipelineForm> form = parseSchedule(name, numStages);
    if (!form) return mesh.emitError() << llvm::toString(form.takeError());
    // Who says what is on which stage says how many chunks there are.
    if (names.size() > 1 && form->numChunks > 1 && !given.empty()) continue;
    DenseMap<Value, unsigned> stages = placeParameters(flow, given, form->getNumVirtualStages(), pieces);
    if (names.size() > 1 && form->numChunks > 1 && !coversStages(stages, form->getNumVirtualStages())) continue;
    llvm::Expected<std::unique_ptr<PipelinePlan>> next = PipelinePlan::create(flow, stages, *form, numParts, cost);
    if (!next) return function.emitError() << llvm::toString(next.takeError());
    constexpr double kGain = 0.99;
    if (!plan || (*next)->getTimes().seconds < kGain * plan->getTimes().seconds) plan = std::move(*next);
  }
  if (names.size() > 1 && loops.getNumLoops() > 0)
    function.emitRemark() << "schedule '" << getScheduleName(plan->getForm()) << "' is the fastest, with "
                          << std::lround(100 * plan->getTimes().getBubble()) << " % of the time waited";
  return success();
}
