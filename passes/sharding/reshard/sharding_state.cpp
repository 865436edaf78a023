// Attribute and state conversions; axis names must be known to the mesh, which verifiers ensure.
#include "passes/sharding/reshard/sharding_state.h"

#include "passes/cost/topology.h"

using namespace mlir;
using namespace mlir::sgd;

MeshSizes mlir::sgd::getMeshSizes(MeshAttr mesh) {
  MeshSizes sizes;
  for (MeshAxisAttr axis : mesh.getAxes()) sizes.push_back(axis.getSize());
  return sizes;
}

FailureOr<CostModel> mlir::sgd::loadCostModel(MeshOp mesh, StringRef topologyName) {
  llvm::Expected<Topology> topology = loadTopology(topologyName);
  if (!topology) return emitError(mesh.getLoc()) << llvm::toString(topology.takeError()), failure();
  return CostModel(*topology, getMeshSizes(mesh.getMesh()));
}

ShardState mlir::sgd::getShardState(MeshAttr mesh, ShardingAttr sharding) {
  ShardState state;
  for (DimShardingAttr dim : sharding.getDims()) state.dims.push_back(getParts(mesh, dim.getAxes()));
  state.partial = getParts(mesh, sharding.getUnreduced());
  return state;
}

AxisListAttr mlir::sgd::getAxisList(FlatSymbolRefAttr name, MeshAttr mesh, ArrayRef<AxisPart> parts) {
  SmallVector<AxisRefAttr> refs;
  for (const AxisPart& part : parts) refs.push_back(getAxisRef(mesh, part));
  return AxisListAttr::get(mesh.getContext(), name, refs);
}
