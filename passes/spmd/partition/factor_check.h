// The check of what localisation relies on: each op's shardings are one assignment of axes to the factors of its rule.
#ifndef SGD_PASSES_SPMD_PARTITION_FACTOR_CHECK_H
#define SGD_PASSES_SPMD_PARTITION_FACTOR_CHECK_H

#include "dialects/sgd/sgd_dialect.h"

namespace mlir::sgd {

/// Fails with a diagnostic when a value of `function` is not a tensor of integers or floats with a sharding of this
/// mesh, when a partial value's reduction is not defined on its elements, or when an op has regions.
LogicalResult checkShardings(func::FuncOp function, FlatSymbolRefAttr meshName, MeshAttr mesh);

/// Fails with a diagnostic on `op` that names operand or result, dimension and axes when the op cannot be computed
/// shard by shard: a dimension is sharded that must be whole, tensors disagree, a reduction over a sharded dimension
/// does not give a partial result, or a partial operand meets an op that is not linear.
LogicalResult checkFitsRule(Operation* op, FlatSymbolRefAttr meshName, MeshAttr mesh);

}  // namespace mlir::sgd

#endif
