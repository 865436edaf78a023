// The SPMD-level dialect: collectives and coordinates. Include this one header.
#ifndef SGD_DIALECTS_SPMD_SPMD_DIALECT_H
#define SGD_DIALECTS_SPMD_SPMD_DIALECT_H

#include "dialects/sgd/sgd_dialect.h"
#include "dialects/spmd/channel_resource.h"

#include "dialects/spmd/spmd_dialect.h.inc"

#define GET_OP_CLASSES
#include "dialects/spmd/spmd_ops.h.inc"

namespace mlir::spmd {

/// Number of ranks in the group `axes`, or nullopt when its mesh or one of its axes is unknown.
std::optional<int64_t> getGroupSize(Operation* from, sgd::AxisListAttr axes);

/// Checks that `tiles` tiles of shape `source` hold the dimension of `range`, and that `target` differs from `source`
/// only in it; says what is wrong on `op`.
LogicalResult verifyRange(Operation* op, sgd::RangeAttr range, ArrayRef<int64_t> source, ArrayRef<int64_t> target,
                          int64_t tiles);

/// Whether `op` is a send or a receive, or a loop or branch with one in it: the order of these in a program is fixed.
bool usesChannels(Operation* op);

}  // namespace mlir::spmd

#endif
