#include "passes/context/sequential_dims.h"

#include "dialects/sgd/sequential.h"
#include "dialects/sgd/tensor_type.h"

using namespace mlir;
using namespace mlir::sgd;

/// Shards the arguments of `function` that have parts over the one axis of `mesh`, and nothing else.
static void shardArguments(func::FuncOp function, const MeshAxes& mesh) {
  for (unsigned index = 0; index < function.getNumResults(); ++index) function.removeResultAttr(index, kShardingAttr);
  for (BlockArgument argument : function.getArguments()) {
    unsigned index = argument.getArgNumber();
    function.removeArgAttr(index, kShardingAttr);
    auto dim = function.getArgAttrOfType<IntegerAttr>(index, kSequentialDimAttr);
    if (!dim) continue;
    TensorAxes axes;
    axes.dims.resize(tensorType(argument).getRank());
    axes.dims[dim.getInt()].axes.push_back({0, 1, mesh.getMesh().getNumRanks()});
    function.setArgAttr(index, kShardingAttr, mesh.toAttr(axes));
  }
  MLIRContext* ctx = function.getContext();
  auto open = DimShardingAttr::get(ctx, {}, /*isOpen=*/true, std::nullopt);
  function.walk([&](ShardingConstraintOp constraint) {
    SmallVector<DimShardingAttr> dims(tensorType(constraint).getRank(), open);
    constraint.setShardingAttr(ShardingAttr::get(ctx, mesh.getName(), dims, {}, {}, ReduceKind::Add));
  });
}

SequentialDims::SequentialDims(func::FuncOp function, FlatSymbolRefAttr name, MeshAxisAttr axis) {
  if (!axis) return;
  MeshAxes mesh(name, MeshAttr::get(function.getContext(), axis));
  copy.emplace(function, mesh, [&](func::FuncOp copied) { shardArguments(copied, mesh); });
  parts = axis.getSize();
}

int64_t SequentialDims::getParts(Value value, int64_t dim) const {
  return copy && *copy && !copy->getAxes(value, dim).empty() ? parts : 1;
}
