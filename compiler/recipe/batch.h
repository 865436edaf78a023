// The batch of a step: which of its inputs have rows, and how many.
#ifndef SGD_COMPILER_RECIPE_BATCH_H
#define SGD_COMPILER_RECIPE_BATCH_H

#include "compiler/recipe/recipe.h"
#include "compiler/recipe/roles.h"
#include "compiler/recipe/tensor_rules.h"
#include "llvm/ADT/StringSet.h"

namespace mlir::sgd {

/// What `function` is fed that has more than one row, but for random keys. `state` are names that are carried in
/// another program of the artifact.
SmallVector<unsigned> findInputsWithRows(func::FuncOp function, const Roles& roles, const llvm::StringSet<>& state);

/// Names of all arguments that some program carries from step to step.
llvm::StringSet<> getStateNames(ArrayRef<func::FuncOp> functions);

/// Shards dimension 0 of all inputs over the recipe's `batch` axes. Returns whether there is any. Inputs that a rule
/// names, scalars, those with one row and random keys are left out; the others must have equally many rows.
FailureOr<bool> shardBatch(func::FuncOp function, const Recipe& recipe, const Roles& roles, const RuledArguments& ruled,
                           const llvm::StringSet<>& state);

}  // namespace mlir::sgd

#endif
