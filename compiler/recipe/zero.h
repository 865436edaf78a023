// ZeRO: parameters and optimizer state in shards over the axes of the batch.
#ifndef SGD_COMPILER_RECIPE_ZERO_H
#define SGD_COMPILER_RECIPE_ZERO_H

#include "compiler/recipe/recipe.h"
#include "compiler/recipe/tensor_rules.h"

namespace mlir::sgd {

/// Stages 1 and 2: optimizer state is sharded over the batch axes, parameters are whole. (A gradient that only shards
/// of an update read is never whole, so both stages are one.) Stage 3: parameters as well. The batch axes come on top
/// of what a rule says of the tensor, or, for optimizer state, of its parameter: the one of its shape whose name ends
/// as the state's does. Tensors that would need over an eighth of padding stay whole, and so do those whose shards
/// would not be smaller in memory. A remark says which.
LogicalResult shardState(func::FuncOp function, const Recipe& recipe, const RuledArguments& ruled);

}  // namespace mlir::sgd

#endif
