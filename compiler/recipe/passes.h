// Passes that read a recipe from the request of their compilation; see passes.td.
#ifndef SGD_COMPILER_RECIPE_PASSES_H
#define SGD_COMPILER_RECIPE_PASSES_H

#include "dialects/sgd/sgd_dialect.h"
#include "mlir/Pass/Pass.h"

namespace mlir::sgd {

#define GEN_PASS_DECL
#include "compiler/recipe/passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "compiler/recipe/passes.h.inc"

}  // namespace mlir::sgd

#endif
