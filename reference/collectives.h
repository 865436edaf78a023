// The spmd dialect's ops, evaluated for all ranks at once.
#ifndef SGD_REFERENCE_COLLECTIVES_H
#define SGD_REFERENCE_COLLECTIVES_H

#include "dialects/spmd/spmd_dialect.h"
#include "reference/tensor.h"

namespace mlir::sgd::reference {

/// A value on every rank.
using RankTensors = std::vector<Tensor>;

/// `in` holds one entry per operand and `out` one per result, zero and of the result's type on every rank. Reduces
/// in double precision in the order of a balanced tree over the group. Fails with a diagnostic on ops that it
/// does not know.
LogicalResult evaluateCollective(Operation* op, ArrayRef<const RankTensors*> in, MutableArrayRef<RankTensors> out);

/// Each rank's view of a value within `op`, from the value that it holds outside: its part along the manual axes of
/// `sharding`.
RankTensors enterManual(ManualComputationOp op, RankTensors values, ShardingAttr sharding);

/// The reverse, for a value that `op` yields: every rank has all parts.
RankTensors leaveManual(ManualComputationOp op, RankTensors values, ShardingAttr sharding);

}  // namespace mlir::sgd::reference

#endif
