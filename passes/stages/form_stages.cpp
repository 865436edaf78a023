// The pass sgd-form-stages: plans each program as a pipeline, then writes a function for each stage.
#include <cmath>
#include <numeric>

#include "dialects/sgd/stages.h"
#include "dialects/sgd/tensor_layout.h"
#include "passes/partition/sharding_state.h"
#include "passes/sequential/batch_parts.h"
#include "passes/stages/idle_stage.h"
#include "passes/stages/op_seconds.h"
#include "passes/stages/passes.h"
#include "passes/stages/plan_program.h"
#include "passes/stages/split_sums.h"
#include "passes/stages/stage_writer.h"

namespace mlir::sgd {
#define GEN_PASS_DEF_FORMSTAGESPASS
#include "passes/stages/passes.h.inc"
}  // namespace mlir::sgd

using namespace mlir;
using namespace mlir::sgd;

/// Of what a stage takes when all take as long: what is too much.
static constexpr double kMostShares = 1.8;

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
  bool isDivided(const ProgramFlow& flow, Operation* op) const;
  LogicalResult checkLoops(const ProgramFlow& flow, unsigned numStages, double mostShares);
  void warnOfImbalance(const PipelinePlan& plan);
  LogicalResult check(const PipelinePlan& plan);
  LogicalResult write(const PipelinePlan& plan);

  func::FuncOp function;
  MeshOp mesh;
  const CostModel& cost;
  MeshAxisAttr attr;
  std::optional<SequentialAxis> axis;
};
}  // namespace

/// A loop over layers is on one stage, and one that takes most of the time leaves nothing for others. `mostShares` are
/// of what a stage takes when all take as long.
LogicalResult StageFormation::checkLoops(const ProgramFlow& flow, unsigned numStages, double mostShares) {
  double all = 0;
  Operation* largest = nullptr;
  for (Operation& op : function.front().without_terminator()) {
    if (!isDivided(flow, &op)) continue;
    double seconds = getOpSeconds(&op, cost);
    all += seconds;
    if (isa<WhileOp>(op) && (!largest || seconds > getOpSeconds(largest, cost))) largest = &op;
  }
  double share = largest ? getOpSeconds(largest, cost) / all : 0;
  if (share * numStages <= mostShares) return success();
  return largest->emitError() << "a loop that takes " << std::lround(100 * share) << " % of the time is on one of "
                              << numStages
                              << " stages; expected layers that can be on stages of their own; compile with --unroll, "
                                 "and with parameters of their own for each layer, or ask for fewer stages";
}

/// A stage that leaves little for others: a parameter of several layers is on one of them.
void StageFormation::warnOfImbalance(const PipelinePlan& plan) {
  ArrayRef<double> busy = plan.getTimes().busy;
  const double* most = llvm::max_element(busy);
  double share = *most / std::accumulate(busy.begin(), busy.end(), 0.0);
  if (share * static_cast<double>(busy.size()) <= kMostShares) return;
  auto stage = static_cast<unsigned>(most - busy.begin());
  BlockArgument largest;
  for (BlockArgument parameter : plan.getFlow().getParameters())
    if (plan.getHaving(parameter).test(stage) &&
        (!largest || getByteSize(parameter.getType()) > getByteSize(largest.getType())))
      largest = parameter;
  InFlightDiagnostic warning = function.emitWarning();
  warning << "stage " << stage << " of " << busy.size() << " takes " << std::lround(100 * share) << " % of the time";
  auto name = largest ? function.getArgAttrOfType<StringAttr>(largest.getArgNumber(), kNameAttr) : StringAttr();
  if (name) warning << "; its largest parameter is " << name.getValue();
  warning << "; layers that share a parameter are on one stage: give them parameters of their own";
}

/// Whether `op` is of what stages divide: of a loop over parts, or of a step that is one part.
bool StageFormation::isDivided(const ProgramFlow& flow, Operation* op) const {
  return flow.getLoops().getNumLoops() > 0 ? flow.getLoops().get(op).isInLoop : flow.isInGraph(op);
}

/// Whether every stage has something to do. Without parts one stage computes at a time: no balance is asked for.
LogicalResult StageFormation::check(const PipelinePlan& plan) {
  const ProgramFlow& flow = plan.getFlow();
  const bool hasLoops = flow.getLoops().getNumLoops() > 0;
  if (!usesAllStages(flow)) return success();
  StageSet busy(plan.getForm().getNumVirtualStages());
  for (Operation& op : flow.getOps())
    if (isDivided(flow, &op) && !plan.getPlacement().isEverywhere(&op)) busy |= plan.getPlacement().get(&op);
  constexpr double kSomeShares = 0.5;
  const bool isChecked = hasLoops || !busy.all();
  if (isChecked && failed(checkLoops(flow, plan.getForm().numStages, busy.all() ? kMostShares : kSomeShares)))
    return failure();
  if (!busy.all()) return emitIdleStage(flow, cost, busy.find_first_unset(), plan.getForm());
  if (hasLoops) warnOfImbalance(plan);
  return success();
}

LogicalResult StageFormation::write(const PipelinePlan& plan) {
  Builder builder(function.getContext());
  StringAttr program = builder.getStringAttr(getProgramName(function));
  auto meshName = FlatSymbolRefAttr::get(mesh.getSymNameAttr());
  for (unsigned stage = plan.getForm().numStages; stage-- > 0;) {
    func::FuncOp own = StageWriter(plan, stage, meshName, axis ? &*axis : nullptr, attr).write();
    if (!own) return failure();
    own.setName((program.getValue() + "_stage" + Twine(stage)).str());
    own->setAttr(kStageAttr, builder.getI64IntegerAttr(stage));
    own->setAttr(kProgramAttr, program);
  }
  return success();
}

LogicalResult StageFormation::run(bool refuse) {
  std::optional<BatchParts> parts;
  if (axis) parts.emplace(function, *axis, attr);
  if (parts) parts->widenArguments();
  auto plan = std::make_unique<ProgramPlan>(function, mesh);
  if (parts && failed(parts->check(plan->getLoops(), refuse))) return failure();
  if (failed(plan->create(mesh, cost))) return failure();
  if (splitSums(plan->get())) {
    auto before = std::exchange(plan, std::make_unique<ProgramPlan>(function, mesh));
    if (failed(plan->createAs(*before, cost))) return failure();
  }
  plan->get().remarkAhead();
  if (failed(check(plan->get()))) return failure();
  return write(plan->get());
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
