// The pass sgd-form-stages: plans each program as a pipeline, then writes a function for each stage.
#include "dialects/sgd/stages.h"
#include "passes/partition/sharding_state.h"
#include "passes/sequential/batch_parts.h"
#include "passes/stages/passes.h"
#include "passes/stages/pipeline_plan.h"
#include "passes/stages/stage_writer.h"

namespace mlir::sgd {
#define GEN_PASS_DEF_FORMSTAGESPASS
#include "passes/stages/passes.h.inc"
}  // namespace mlir::sgd

using namespace mlir;
using namespace mlir::sgd;

using PlanPointer = std::unique_ptr<PipelinePlan>;

namespace {
/// One program.
class StageFormation {
 public:
  StageFormation(func::FuncOp function, MeshOp mesh, const CostModel& cost)
      : function(function), mesh(mesh), cost(cost), attr(getActiveSequentialAxis(mesh)) {
    if (attr) axis.emplace(FlatSymbolRefAttr::get(mesh.getSymNameAttr()), mesh.getMesh(), attr);
  }

  LogicalResult run(bool refuse);

 private:
  void findGiven();
  FailureOr<PlanPointer> plan(const ProgramFlow& flow);
  LogicalResult check(const PipelinePlan& plan);
  void write(const PipelinePlan& plan);

  func::FuncOp function;
  MeshOp mesh;
  const CostModel& cost;
  MeshAxisAttr attr;
  std::optional<SequentialAxis> axis;
  DenseMap<Value, unsigned> given;
};
}  // namespace

void StageFormation::findGiven() {
  for (BlockArgument argument : function.getArguments())
    if (auto stage = function.getArgAttrOfType<IntegerAttr>(argument.getArgNumber(), kStageAttr))
      given[argument] = static_cast<unsigned>(stage.getInt());
}

/// By the schedule that the mesh names, else by the fastest one; of several as fast the one that keeps least.
FailureOr<PlanPointer> StageFormation::plan(const ProgramFlow& flow) {
  auto numStages = static_cast<unsigned>(getStageAxis(mesh).getSize());
  auto numParts = static_cast<unsigned>(attr ? attr.getSize() : 1);
  SmallVector<StringRef> names{"1f1b", "zb_h1", "gpipe"};
  if (auto name = mesh->getAttrOfType<StringAttr>(kScheduleAttr)) names = {name.getValue()};
  PlanPointer best;
  for (StringRef name : names) {
    llvm::Expected<PipelineForm> form = parseSchedule(name, numStages);
    if (!form) return LogicalResult(mesh.emitError() << llvm::toString(form.takeError()));
    llvm::Expected<PlanPointer> plan = PipelinePlan::create(flow, given, *form, numParts, cost);
    if (!plan) return LogicalResult(function.emitError() << llvm::toString(plan.takeError()));
    constexpr double kGain = 0.99;
    if (!best || (*plan)->getTimes().seconds < kGain * best->getTimes().seconds) best = std::move(*plan);
  }
  return best;
}

/// Whether every stage has something to do.
LogicalResult StageFormation::check(const PipelinePlan& plan) {
  const LoopSchedule& loops = plan.getFlow().getLoops();
  if (loops.getNumLoops() == 0) return success();
  StageSet busy(plan.getForm().getNumVirtualStages());
  for (Operation& op : function.front().without_terminator())
    if (loops.get(&op).isInLoop && !plan.getPlacement().isEverywhere(&op)) busy |= plan.getPlacement().get(&op);
  if (busy.all()) return success();
  Operation* largest = nullptr;
  function.walk([&](WhileOp loop) { largest = largest ? largest : loop.getOperation(); });
  InFlightDiagnostic error = largest ? largest->emitError() : function.emitError();
  error << "stage " << busy.find_first_unset() << " of " << busy.size() << " has nothing to compute";
  if (largest)
    return error << ", as a loop is on one stage; expected layers outside of loops; compile with a larger --unroll, "
                    "and parameters of their own for each layer";
  return error << "; expected parameters for each stage; ask for fewer stages, or say in the recipe which parameters "
                  "each has";
}

void StageFormation::write(const PipelinePlan& plan) {
  Builder builder(function.getContext());
  StringAttr program = builder.getStringAttr(getProgramName(function));
  auto meshName = FlatSymbolRefAttr::get(mesh.getSymNameAttr());
  for (unsigned stage = plan.getForm().numStages; stage-- > 0;) {
    func::FuncOp own = StageWriter(plan, stage, meshName, axis ? &*axis : nullptr, attr).write();
    own.setName((program.getValue() + "_stage" + Twine(stage)).str());
    own->setAttr(kStageAttr, builder.getI64IntegerAttr(stage));
    own->setAttr(kProgramAttr, program);
    own->setAttr("sgd.stage_seconds", builder.getF64FloatAttr(plan.getTimes().busy[stage]));
    own->setAttr("sgd.bubble", builder.getF64FloatAttr(plan.getTimes().getBubble()));
  }
}

LogicalResult StageFormation::run(bool refuse) {
  std::optional<BatchParts> parts;
  if (axis) parts.emplace(function, *axis, attr);
  if (parts) parts->widenArguments();
  LoopSchedule loops(function, mesh.getMesh(), attr);
  if (parts && failed(parts->check(loops, refuse))) return failure();
  findGiven();
  llvm::DenseSet<Value> givenArguments;
  for (auto [argument, stage] : given) givenArguments.insert(argument);
  ProgramFlow flow(function, loops, attr, givenArguments);
  FailureOr<PlanPointer> chosen = plan(flow);
  if (failed(chosen) || failed(check(**chosen))) return failure();
  write(**chosen);
  return success();
}

namespace {
struct FormStagesPass : mlir::sgd::impl::FormStagesPassBase<FormStagesPass> {
  using FormStagesPassBase::FormStagesPassBase;

  void runOnOperation() override {
    MeshOp mesh = getMesh(getOperation());
    MeshAxisAttr stages = getStageAxis(mesh);
    if (!stages) return;
    FailureOr<CostModel> cost = loadCostModel(mesh, topology);
    if (failed(cost)) return signalPassFailure();
    SmallVector<func::FuncOp> functions(getOperation().getOps<func::FuncOp>());
    for (func::FuncOp function : functions) {
      if (function.isExternal()) continue;
      if (failed(StageFormation(function, mesh, *cost).run(refuse))) return signalPassFailure();
      function.erase();
    }
    SmallVector<MeshAxisAttr> axes{stages};
    llvm::append_range(axes, mesh.getMesh().getAxes().drop_front(getActiveSequentialAxis(mesh) ? 1 : 0));
    mesh.setMeshAttr(MeshAttr::get(&getContext(), axes));
  }
};
}  // namespace
