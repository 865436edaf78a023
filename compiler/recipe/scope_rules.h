// Rules of a recipe for values by the scope of the source that computes them.
#ifndef SGD_COMPILER_RECIPE_SCOPE_RULES_H
#define SGD_COMPILER_RECIPE_SCOPE_RULES_H

#include <string>

#include "compiler/recipe/recipe.h"
#include "dialects/sgd/sgd_dialect.h"

namespace mlir::sgd {

/// Annotates the values that leave a scope of the forward pass, with as many dimensions as the rule's sharding: what
/// ops of the scope compute and ops of the forward pass outside it read. A rule that finds none is an error.
LogicalResult applyScopeRules(ArrayRef<func::FuncOp> functions, const Recipe& recipe);

/// Refuses expectations about scopes that no op of `functions` is in: they would hold whatever is compiled.
LogicalResult checkExpectedScopes(ArrayRef<func::FuncOp> functions, const Recipe& recipe);

}  // namespace mlir::sgd

#endif
