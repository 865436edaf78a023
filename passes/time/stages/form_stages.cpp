// The pass sgd-form-stages: plans each program as a pipeline, then writes a function for each stage.
#include "dialects/sgd/host_call.h"
#include "dialects/sgd/stages.h"
#include "dialects/sgd/tensor_layout.h"
#include "passes/sharding/reshard/sharding_state.h"
#include "passes/time/sequential/batch_parts.h"
#include "passes/time/stages/check_balance.h"
#include "passes/time/stages/passes.h"
#include "passes/time/stages/plan_program.h"
#include "passes/time/stages/split_sums.h"
#include "passes/time/stages/stage_writer.h"

namespace mlir::sgd {
#define GEN_PASS_DEF_FORMSTAGESPASS
#include "passes/time/stages/passes.h.inc"
}  // namespace mlir::sgd

using namespace mlir;
using namespace mlir::sgd;

namespace {
/// One program.
class StageFormation {
 public:
  StageFormation(func::FuncOp function, MeshOp mesh, const OpTimes& times)
      : function(function), mesh(mesh), times(times), attr(getActiveSequentialAxis(mesh)) {
    if (attr) axis.emplace(FlatSymbolRefAttr::get(mesh.getSymNameAttr()), mesh.getMesh(), attr);
  }

  LogicalResult run(bool refuse);

 private:
  LogicalResult write(const PipelinePlan& plan);

  func::FuncOp function;
  MeshOp mesh;
  const OpTimes& times;
  MeshAxisAttr attr;
  std::optional<SequentialAxis> axis;
};
}  // namespace

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
  if (failed(plan->create(mesh, times))) return failure();
  if (splitSums(plan->get())) {
    auto before = std::exchange(plan, std::make_unique<ProgramPlan>(function, mesh));
    if (failed(plan->createAs(*before, times))) return failure();
  }
  plan->get().remarkAhead();
  if (failed(checkBalance(plan->get(), times))) return failure();
  return write(plan->get());
}

namespace {
struct FormStagesPass : mlir::sgd::impl::FormStagesPassBase<FormStagesPass> {
  using FormStagesPassBase::FormStagesPassBase;

  void runOnOperation() override {
    MeshOp mesh = getMesh(getOperation());
    MeshAxisAttr stages = getStageAxis(mesh);
    if (!stages) return;
    if (failed(refuseHostCalls(getOperation(),
                               "in a pipeline, whose stages run parts of the batch at different times; "
                               "expected none; return the value from the program, or drop 'stages'")))
      return signalPassFailure();
    FailureOr<CostModel> cost = loadCostModel(mesh, topology);
    if (failed(cost)) return signalPassFailure();
    const OpTimes times(getOperation(), *cost);
    SmallVector<func::FuncOp> functions(getOperation().getOps<func::FuncOp>());
    for (func::FuncOp function : functions) {
      if (function.isExternal()) continue;
      if (failed(StageFormation(function, mesh, times).run(refuse))) return signalPassFailure();
      function.erase();
    }
    SmallVector<MeshAxisAttr> axes{stages};
    llvm::append_range(axes, mesh.getMesh().getAxes().drop_front(getActiveSequentialAxis(mesh) ? 1 : 0));
    mesh.setMeshAttr(MeshAttr::get(&getContext(), axes));
  }
};
}  // namespace
