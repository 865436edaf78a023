// Pipelines: a mesh axis whose coordinates run different programs.
#ifndef SGD_DIALECTS_SGD_STAGES_H
#define SGD_DIALECTS_SGD_STAGES_H

#include <map>
#include <string>

#include "dialects/sgd/sgd_dialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::sgd {

/// More stages than any pipeline has.
inline constexpr int64_t kMaxStages = 4096;

/// MeshAxisAttr on `sgd.mesh`: the stage axis, `"stage"=4`, of at most kMaxStages. Until `sgd-form-stages` it is not in
/// the mesh; from then on it is the first axis there, so that rank = stage * (ranks of a stage) + rest.
inline constexpr llvm::StringLiteral kStagesAttr = "sgd.stages";

/// StringAttr on `sgd.mesh` with stages: the schedule, as getScheduleChoices reads it
/// (passes/time/stages/pipeline_schedule.h). Absent: any; sgd-choose-schedule takes the fastest.
inline constexpr llvm::StringLiteral kScheduleAttr = "sgd.schedule";

/// I64Attr on functions: the stage whose ranks run it. Functions without it are run by all ranks.
/// On arguments, before `sgd-form-stages`: the virtual stage that has them; absent where that follows from others.
inline constexpr llvm::StringLiteral kStageAttr = "sgd.stage";

/// StringAttr on functions: the program that they are of, where that is not their own name. The functions of a
/// program's stages are symbols of their own in the module that all programs become.
inline constexpr llvm::StringLiteral kProgramAttr = "sgd.program";

/// I64Attr on arguments and results of a stage's function: their position among those of the whole program. Several
/// stages may hold one; names and types are then equal.
inline constexpr llvm::StringLiteral kPositionAttr = "sgd.position";

/// The stage axis of `mesh` (which may be null), or null.
inline MeshAxisAttr getStageAxis(MeshOp mesh) {
  return mesh ? mesh->getAttrOfType<MeshAxisAttr>(kStagesAttr) : MeshAxisAttr();
}

/// The same once the axis is in the mesh, as its first one; else null.
inline MeshAxisAttr getActiveStageAxis(MeshOp mesh) {
  MeshAxisAttr axis = getStageAxis(mesh);
  return axis && !mesh.getMesh().getAxes().empty() && mesh.getMesh().getAxes().front() == axis ? axis : MeshAxisAttr();
}

/// The stage that runs `function`, or nullopt where all ranks do.
inline std::optional<int64_t> getStage(func::FuncOp function) {
  auto stage = function->getAttrOfType<IntegerAttr>(kStageAttr);
  return stage ? std::optional(stage.getInt()) : std::nullopt;
}

/// The name of the program that `function` is, or is a stage of.
inline llvm::StringRef getProgramName(func::FuncOp function) {
  auto name = function->getAttrOfType<StringAttr>(kProgramAttr);
  return name ? name.getValue() : function.getName();
}

/// The public functions of each program with stages, in the order of stages.
std::map<std::string, SmallVector<func::FuncOp>> getStagePrograms(ModuleOp module);

}  // namespace mlir::sgd

#endif
