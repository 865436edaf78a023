// The stages of a recipe: an axis of the mesh, and stages of arguments.
#ifndef SGD_COMPILER_RECIPE_STAGES_H
#define SGD_COMPILER_RECIPE_STAGES_H

#include "compiler/recipe/recipe.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace mlir::sgd {

/// Gives the mesh of each program the stage axis and the schedule of `recipe`, and the arguments that its stages match
/// their virtual stage (dialects/sgd/stages.h): by name, or, of what is no input, because an op of the forward pass
/// reads them in a scope that matches. The first stage that matches decides. A stage that decides none in any program
/// is an error. Nothing where the recipe has no stages, or one.
LogicalResult applyStages(llvm::MutableArrayRef<OwningOpRef<ModuleOp>> programs, const Recipe& recipe);

/// How many chunks of the program the stages of `recipe`, which has some, have together.
FailureOr<unsigned> getNumVirtualStages(const Recipe& recipe, MLIRContext* context);

}  // namespace mlir::sgd

#endif
