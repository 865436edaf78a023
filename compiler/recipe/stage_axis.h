// The stage axis that a recipe asks for.
#ifndef SGD_COMPILER_RECIPE_STAGE_AXIS_H
#define SGD_COMPILER_RECIPE_STAGE_AXIS_H

#include "compiler/recipe/recipe.h"
#include "mlir/IR/BuiltinOps.h"

namespace mlir::sgd {

/// Gives the mesh of each program the stage axis and the schedule of `recipe`, which has stages. False, with nothing
/// changed, where that is one stage with one chunk of the program.
FailureOr<bool> setStageAxis(ArrayRef<ModuleOp> programs, const Recipe& recipe);

}  // namespace mlir::sgd

#endif
