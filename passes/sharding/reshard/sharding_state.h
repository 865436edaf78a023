// Between sharding attributes and the reshard planner's plain states, for one mesh.
#ifndef SGD_PASSES_SHARDING_RESHARD_SHARDING_STATE_H
#define SGD_PASSES_SHARDING_RESHARD_SHARDING_STATE_H

#include "dialects/sgd/sgd_dialect.h"
#include "dialects/sgd/tensor_layout.h"
#include "dialects/sgd/tensor_type.h"
#include "passes/cost/cost_model.h"
#include "passes/sharding/propagation/mesh_axes.h"
#include "passes/sharding/reshard/reshard_planner.h"

namespace mlir::sgd {

/// Sizes of the axes of `mesh`, in order.
MeshSizes getMeshSizes(MeshAttr mesh);

/// The cost model of the topology that loadTopology finds under `topologyName`, for the ranks of `mesh`. Fails with an
/// error at the mesh.
FailureOr<CostModel> loadCostModel(MeshOp mesh, StringRef topologyName);

/// The dimensions and partial axes of `sharding`.
ShardState getShardState(MeshAttr mesh, ShardingAttr sharding);

/// The group as an attribute.
AxisListAttr getAxisList(FlatSymbolRefAttr name, MeshAttr mesh, ArrayRef<AxisPart> parts);

}  // namespace mlir::sgd

#endif
