// Copies of values that cost nothing to make, so that each use can have its own sharding.
#ifndef SGD_PASSES_SHARDING_PROPAGATION_CONSTANTS_H
#define SGD_PASSES_SHARDING_PROPAGATION_CONSTANTS_H

#include "dialects/sgd/sgd_dialect.h"

namespace mlir::sgd {

/// True for values whose defining op (a constant or an iota) can be retyped to any sharding without
/// communication.
bool isMadeFreely(Value value);

/// Folds what only moves the elements of constants (broadcasts, reshapes of splats), then gives every use of a
/// constant or iota an op of its own. Scalars are left alone: they cannot be sharded.
void splitFreeValues(func::FuncOp function);

/// Gives the constant or iota that defines `value` the sharding `sharding` (partial ones too: a
/// constant must then be neutral).
void retypeFreeValue(Value value, ShardingAttr sharding);

}  // namespace mlir::sgd

#endif
