// Rules of a recipe for tensors by their names.
#ifndef SGD_COMPILER_RECIPE_TENSOR_RULES_H
#define SGD_COMPILER_RECIPE_TENSOR_RULES_H

#include "compiler/recipe/recipe.h"
#include "dialects/sgd/sgd_dialect.h"

namespace mlir::sgd {

/// By argument: the number of the rule that decided its sharding, if one did.
using RuledArguments = SmallVector<std::optional<unsigned>>;

/// Annotates arguments of `functions` that match, and results that are no argument of the next step; the first rule
/// that matches decides. A rule that matches no tensor of any of them, or decides none, is an error, and so is one
/// whose sharding has another number of dimensions than a tensor that it decides. One entry of the result for each
/// function.
FailureOr<SmallVector<RuledArguments>> applyTensorRules(ArrayRef<func::FuncOp> functions, const Recipe& recipe);

}  // namespace mlir::sgd

#endif
