// The pass sgd-set-stages.
#include "compiler/recipe/passes.h"
#include "compiler/recipe/requested.h"
#include "compiler/recipe/stage_axis.h"
#include "dialects/sgd/mesh_name.h"
#include "dialects/sgd/programs.h"
#include "dialects/sgd/stages.h"
#include "passes/time/stages/pipeline_schedule.h"

namespace mlir::sgd {
#define GEN_PASS_DEF_SETSTAGESPASS
#include "compiler/recipe/passes.h.inc"
}  // namespace mlir::sgd

using namespace mlir;
using namespace mlir::sgd;

static constexpr llvm::StringLiteral kAxisName = "stage";

/// The number of stages: with a list, an entry is a chunk of a stage.
static FailureOr<PipelineForm> getForm(const Recipe& recipe, llvm::function_ref<InFlightDiagnostic()> error) {
  // Its name was read already. Where there is a choice, the first one has one chunk on a stage.
  StringRef first = getScheduleChoices(recipe.schedule).front();
  PipelineForm form = llvm::cantFail(parseSchedule(first, recipe.stages->count));
  if (recipe.stages->matches.empty() || form.numChunks == 1) return form;
  if (recipe.stages->count % form.numChunks != 0)
    return LogicalResult(error() << "field 'stages' lists " << recipe.stages->count << " chunks, but schedule '"
                                 << recipe.schedule << "' has " << form.numChunks
                                 << " on each stage; expected a multiple of it");
  form.numStages = recipe.stages->count / form.numChunks;
  return form;
}

FailureOr<bool> mlir::sgd::setStageAxis(ArrayRef<ModuleOp> programs, const Recipe& recipe) {
  MLIRContext* context = ModuleOp(programs.front()).getContext();
  auto error = [&] { return emitError(UnknownLoc::get(context)); };
  FailureOr<PipelineForm> form = getForm(recipe, error);
  if (failed(form)) return failure();
  if (form->numStages == 1 && form->numChunks == 1) return false;
  auto stages = MeshAxisAttr::get(context, kAxisName, form->numStages);
  for (ModuleOp program : programs) {
    MeshOp mesh = getMesh(program);
    if (mesh && mesh.getMesh().getAxisIndex(kAxisName))
      return LogicalResult(error() << "field 'stages': the mesh has an axis '" << kAxisName
                                   << "' already; give that one another name, the stages are an axis of their own");
    if (!mesh) {
      OpBuilder builder = OpBuilder::atBlockBegin(program.getBody());
      mesh = MeshOp::create(builder, program.getLoc(), kMeshName, MeshAttr::get(context, {}));
    }
    SmallVector<MeshAxisAttr> axes(mesh.getMesh().getAxes());
    axes.push_back(stages);
    if (failed(MeshAttr::verify([&] { return error() << "field 'stages': with its stages, the "; }, axes)))
      return failure();
    mesh->setAttr(kStagesAttr, stages);
    if (!recipe.schedule.empty()) mesh->setAttr(kScheduleAttr, StringAttr::get(context, recipe.schedule));
  }
  return true;
}

namespace {
struct SetStagesPass : mlir::sgd::impl::SetStagesPassBase<SetStagesPass> {
  using SetStagesPassBase::SetStagesPassBase;

  void runOnOperation() override {
    FailureOr<Requested> requested = Requested::read(getOperation());
    if (failed(requested)) return signalPassFailure();
    if (!requested->recipe || !requested->recipe->stages || !requested->recipe->stages->matches.empty()) return;
    FileOfDiagnostics file(&getContext(), requested->recipe->fileName);
    if (failed(setStageAxis(getPrograms(getOperation()), *requested->recipe))) signalPassFailure();
  }
};
}  // namespace
