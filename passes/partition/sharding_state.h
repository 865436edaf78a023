// Between sharding attributes and the reshard planner's plain states, for one mesh.
#ifndef SGD_PASSES_PARTITION_SHARDING_STATE_H
#define SGD_PASSES_PARTITION_SHARDING_STATE_H

#include "dialects/sgd/sgd_dialect.h"
#include "passes/partition/reshard_planner.h"

namespace mlir::sgd {

/// Sizes of the axes of `mesh`, in order.
MeshSizes getMeshSizes(MeshAttr mesh);

/// The part of an axis that `ref`, which must name an axis of `mesh`, means.
AxisPiece getPiece(MeshAttr mesh, AxisRefAttr ref);

/// In joined form, without axes of size 1.
AxisPieces getPieces(MeshAttr mesh, ArrayRef<AxisRefAttr> refs);

/// What `sharding` says of dimensions and partial axes.
ShardState getShardState(MeshAttr mesh, ShardingAttr sharding);

/// The group as an attribute; whole axes are written without sizes.
AxisListAttr getAxisList(FlatSymbolRefAttr name, MeshAttr mesh, ArrayRef<AxisPiece> pieces);

/// Bytes of one element as it is stored: i1 takes one.
uint64_t getElementBytes(Type elementType);

/// Bytes of all elements of `type`.
uint64_t getTensorBytes(RankedTensorType type);

}  // namespace mlir::sgd

#endif
