// A recipe becomes a mesh and annotations of the programs, as if their author had written them.
#ifndef SGD_COMPILER_RECIPE_APPLY_H
#define SGD_COMPILER_RECIPE_APPLY_H

#include "compiler/recipe/recipe.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace mlir::sgd {

/// Leaves out the shardings that the programs' texts have, and their meshes, where the recipe ignores them. Fails for
/// one of `isLocal`: parts of it are written for its mesh.
LogicalResult dropAnnotations(llvm::MutableArrayRef<OwningOpRef<ModuleOp>> programs, const Recipe& recipe,
                              bool isLocal);

/// Gives every program the axes of the recipe's mesh, in its order: axes that the programs have too keep nothing of
/// theirs but the name, others of theirs come first. Before sizes of `--mesh`.
LogicalResult applyRecipeMesh(llvm::MutableArrayRef<OwningOpRef<ModuleOp>> programs, const Recipe& recipe);

/// Adds the annotations. Each program is one function whose carried results are decided; its mesh is final. An
/// annotation of the program's own gives way to one of the recipe, with a remark.
LogicalResult applyRecipe(llvm::MutableArrayRef<OwningOpRef<ModuleOp>> programs, const Recipe& recipe);

}  // namespace mlir::sgd

#endif
