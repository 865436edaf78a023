// The types of an op's operands and results if one operand had another sharding.
#ifndef SGD_PASSES_SPMD_COLLECTIVES_RETYPED_OP_H
#define SGD_PASSES_SPMD_COLLECTIVES_RETYPED_OP_H

#include "dialects/sgd/sgd_dialect.h"
#include "passes/sharding/propagation/mesh_axes.h"

namespace mlir::sgd {

/// Shardings of all operands and of the single result of an op.
struct OpShardings {
  SmallVector<ShardingAttr, 3> operands;
  ShardingAttr result;
};

/// The op's shardings when operand `operand` has `sharding` (its partial axes are carried to the result), by the op's
/// sharding rule; axes of a reduced dimension become partial in the result. Nothing when the rule does not allow it.
std::optional<OpShardings> shardLike(Operation* op, unsigned operand, ShardingAttr sharding, const MeshAxes& mesh);

/// The shardings of an op of one result whose factors all pass through (elementwise, broadcast, transpose, reshape)
/// when its result has `sharding`, which is not partial. Nothing when the rule does not allow it.
std::optional<OpShardings> shardForResult(Operation* op, ShardingAttr sharding, const MeshAxes& mesh);

}  // namespace mlir::sgd

#endif
