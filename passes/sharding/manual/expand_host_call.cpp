// Host calls: every rank calls with the values that it holds, so all of them differ over all axes.
#include "passes/sharding/manual/manual_expansion.h"

using namespace mlir;
using namespace mlir::sgd;

LogicalResult ManualExpansion::expandHostCall(HostCallOp call) {
  Location loc = call.getLoc();
  if (!call.getEachRank())
    return call.emitError() << "'" << call.getCallee()
                            << "' is called once for all ranks, in a manual computation, whose ranks have values of "
                               "their own; expected a call of each rank; write each_rank";
  AxisIndices all;
  for (unsigned axis = 0; axis < mesh.get().getAxes().size(); ++axis) all.push_back(axis);
  if (AxisIndices others = without(all, manualAxes); !others.empty())
    return call.emitError() << "'" << call.getCallee() << "' is called on each rank, and the axis \""
                            << mesh.getRef(others[0]).getName()
                            << "\" is not manual here; expected all axes of the mesh; name them in shard_map";
  auto prepare = [&](const Batched& value) {
    Batched differing = batch.spread(loc, value, all);
    auto whole = DimShardingAttr::get(call.getContext(), {}, /*isOpen=*/false, std::nullopt);
    return constrain(loc, differing, SmallVector<DimShardingAttr>(differing.getShape().size(), whole)).value;
  };
  SmallVector<Value> inputs =
      llvm::map_to_vector(call.getInputs(), [&](Value value) { return prepare(lookup(value)); });
  Value when = active ? prepare(*active) : Value();
  SmallVector<Type> types =
      llvm::map_to_vector(call.getResultTypes(), [&](Type type) -> Type { return batch.getBatchedType(all, type); });
  OpBuilder& builder = batch.getBuilder();
  auto expanded =
      HostCallOp::create(builder, loc, types, inputs, when, call.getCalleeAttr(), call.getIdAttr(),
                         call.getEachRankAttr(), builder.getI64IntegerAttr(static_cast<int64_t>(all.size())));
  for (auto [original, result] : llvm::zip(call.getResults(), expanded.getResults()))
    values[original] = pin(loc, {result, all});
  return success();
}
