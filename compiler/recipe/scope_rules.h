// Rules of a recipe for values by the scope of the source that computes them.
#ifndef SGD_COMPILER_RECIPE_SCOPE_RULES_H
#define SGD_COMPILER_RECIPE_SCOPE_RULES_H

#include <string>

#include "compiler/recipe/recipe.h"
#include "dialects/sgd/sgd_dialect.h"

namespace mlir::sgd {

/// Where an op stands in the user's source, by jax.named_scope and modules of flax: `encoder/layer0/mlp`.
struct Scope {
  std::string path;         // without the primitive's own name and without transformations
  bool isBackward = false;  // it computes a gradient
};

/// Read from the names in the op's location, `jit(step)/transpose(jvp(encoder))/layer0/mlp/dot_general`; an empty path
/// where it has none.
Scope getScope(Location location);

/// Annotates the values that leave a scope of the forward pass, with as many dimensions as the rule's sharding: what
/// ops of the scope compute and ops of the forward pass outside it read. A rule that finds none is an error.
LogicalResult applyScopeRules(ArrayRef<func::FuncOp> functions, const Recipe& recipe);

}  // namespace mlir::sgd

#endif
