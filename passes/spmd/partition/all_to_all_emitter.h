// Writes all-to-alls over several dimensions.
#ifndef SGD_PASSES_SPMD_PARTITION_ALL_TO_ALL_EMITTER_H
#define SGD_PASSES_SPMD_PARTITION_ALL_TO_ALL_EMITTER_H

#include "dialects/spmd/spmd_dialect.h"
#include "passes/sharding/reshard/reshard_planner.h"

namespace mlir::sgd {

/// `value` after `moves`, which are exchanged at once between the ranks of `axes`, the axes of all moves in order: one
/// all-to-all of a tensor whose first dimension counts the ranks, between two local reorderings. No dimension both
/// gives and receives.
Value emitAllToAll(OpBuilder& builder, Location loc, Value value, ArrayRef<ReshardStep::Move> moves, AxisListAttr axes);

}  // namespace mlir::sgd

#endif
