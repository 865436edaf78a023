// Recipes by name: those that need no rules of their own.
#ifndef SGD_COMPILER_RECIPE_BUILT_IN_H
#define SGD_COMPILER_RECIPE_BUILT_IN_H

#include <string>

#include "llvm/Support/Error.h"

namespace mlir::sgd {

/// Whether `recipe`, as --recipe gives it, names a file: it contains `/` or ends in `.json`; `-` is standard input.
bool isRecipeFile(llvm::StringRef recipe);

/// The name of the recipe for --batch AXIS,..., which messages call so.
std::string getBatchRecipe(llvm::StringRef axes);

/// The JSON text of the recipe of this name: `ddp`, `zero1`, `zero2`, `zero3`, `pipeline:P`, or one of
/// getBatchRecipe(). `hasDataAxis` says whether --mesh has an axis `data`, over which a pipeline shards its batch too.
/// Errors name what there is.
llvm::Expected<std::string> getBuiltInRecipe(llvm::StringRef name, bool hasDataAxis);

}  // namespace mlir::sgd

#endif
