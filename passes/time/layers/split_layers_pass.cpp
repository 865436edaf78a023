// The pass sgd-split-layers.
#include "dialects/sgd/programs.h"
#include "dialects/sgd/stages.h"
#include "passes/time/layers/passes.h"
#include "passes/time/layers/split_layers.h"
#include "passes/time/stages/pipeline_schedule.h"

namespace mlir::sgd {
#define GEN_PASS_DEF_SPLITLAYERSPASS
#include "passes/time/layers/passes.h.inc"
}  // namespace mlir::sgd

using namespace mlir;
using namespace mlir::sgd;

static bool hasStagesOnArguments(ArrayRef<func::FuncOp> functions) {
  return llvm::any_of(functions, [](func::FuncOp function) {
    return llvm::any_of(llvm::seq(function.getNumArguments()), [&](unsigned argument) {
      return static_cast<bool>(function.getArgAttr(argument, kStageAttr));
    });
  });
}

/// The virtual stages that the mesh asks for; 1 where arguments say where they are.
static unsigned getWantedStages(ArrayRef<ModuleOp> programs) {
  MeshOp mesh = getMesh(programs.front());
  MeshAxisAttr axis = getStageAxis(mesh);
  if (!axis || getActiveStageAxis(mesh) || hasStagesOnArguments(getProgramFunctions(programs))) return 1;
  auto schedule = mesh->getAttrOfType<StringAttr>(kScheduleAttr);
  StringRef first = getScheduleChoices(schedule ? schedule.getValue() : StringRef()).front();
  llvm::Expected<PipelineForm> form = parseSchedule(first, static_cast<unsigned>(axis.getSize()));
  if (form) return form->getNumVirtualStages();
  llvm::consumeError(form.takeError());  // said where the schedule is chosen
  return 1;
}

namespace {
struct SplitLayersPass : mlir::sgd::impl::SplitLayersPassBase<SplitLayersPass> {
  using SplitLayersPassBase::SplitLayersPassBase;

  void runOnOperation() override {
    SmallVector<ModuleOp> programs = getPrograms(getOperation());
    const unsigned wanted = stages == 0 ? getWantedStages(programs) : stages;
    if (wanted == 1) return;
    llvm::Expected<Topology> found = loadTopology(topology);
    if (!found) {
      emitError(UnknownLoc::get(&getContext())) << llvm::toString(found.takeError());
      return signalPassFailure();
    }
    splitLayers(programs, wanted, CostModel(*found, {}));
  }
};
}  // namespace
