// The sequential axis is major to the axes of ranks: each coordinate has a block of a dimension, sharded over ranks.
#include "passes/sharding/propagation/sequential_axis.h"

using namespace mlir;
using namespace mlir::sgd;

static AxisPart getAxisPart(const MeshAxes& mesh) { return {0, 1, mesh.getMesh().getAxes().front().getSize()}; }

TensorAxes SequentialAxis::getRankAxes(ShardingAttr sharding) const {
  TensorAxes tensor = axes.toTensorAxes(sharding);
  auto drop = [&](AxisParts& parts) {
    llvm::erase_if(parts, [&](const AxisPart& part) { return isSequential(part); });
  };
  for (DimAxes& dim : tensor.dims) drop(dim.axes);
  drop(tensor.unreduced);
  return tensor;
}

SequentialState SequentialAxis::getState(ShardingAttr sharding) const {
  TensorAxes tensor = axes.toTensorAxes(sharding);
  auto isHere = [&](const AxisParts& parts) {
    return llvm::any_of(parts, [&](const AxisPart& part) { return isSequential(part); });
  };
  for (auto [dim, held] : llvm::enumerate(tensor.dims))
    if (isHere(held.axes)) return SequentialState::cut(dim);
  return isHere(tensor.unreduced) ? SequentialState::partial(sharding.getUnreducedKind()) : SequentialState();
}

RankedTensorType SequentialAxis::withState(RankedTensorType type, SequentialState state) const {
  ShardingAttr sharding = getSharding(type);
  TensorAxes tensor = getRankAxes(sharding);
  ReduceKind kind = sharding.getUnreducedKind();
  if (state.isCut()) tensor.dims[state.dim].axes.insert(tensor.dims[state.dim].axes.begin(), getAxisPart(axes));
  if (state.isPartial()) {
    tensor.unreduced.push_back(getAxisPart(axes));
    kind = state.reduceKind;
  }
  return withSharding(type, axes.toAttr(tensor, kind));
}

bool SequentialAxis::divides(RankedTensorType type, unsigned dim) const {
  int64_t parts = getSize() * getGroupSize(getRankAxes(getSharding(type)).dims[dim].axes);
  return type.getDimSize(dim) % parts == 0;
}
