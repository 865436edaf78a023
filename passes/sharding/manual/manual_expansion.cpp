// Operands are cut, the body is batched op by op, results are put together.
#include "passes/sharding/manual/manual_expansion.h"

using namespace mlir;
using namespace mlir::sgd;

static bool isManual(ManualComputationOp op, AxisRefAttr axis) {
  return llvm::any_of(op.getManualAxes().getAxes(),
                      [&](AxisRefAttr manual) { return manual.getName() == axis.getName(); });
}

/// Parts of those of `axes` that are manual in `op`, in order.
AxisIndices ManualExpansion::manualAxesOf(ManualComputationOp op, ArrayRef<AxisRefAttr> axes) const {
  auto manual = llvm::filter_to_vector(axes, [&](AxisRefAttr axis) { return isManual(op, axis); });
  return AxisIndices(mesh.find(manual));
}

/// The sharding of a value within the computation, over free axes.
SmallVector<DimShardingAttr> ManualExpansion::freeDims(ManualComputationOp op, ShardingAttr sharding) const {
  SmallVector<DimShardingAttr> dims;
  for (DimShardingAttr dim : sharding.getDims()) {
    ArrayRef<AxisRefAttr> axes = dim.getAxes().drop_while([&](AxisRefAttr axis) { return isManual(op, axis); });
    dims.push_back(DimShardingAttr::get(op.getContext(), axes, dim.getIsOpen(), dim.getPriority()));
  }
  return dims;
}

Batched ManualExpansion::constrain(Location loc, const Batched& value, ArrayRef<DimShardingAttr> dims,
                                   ArrayRef<AxisRefAttr> unreduced) {
  MLIRContext* context = meshName.getContext();
  SmallVector<DimShardingAttr> all;
  for (unsigned axis : value.axes) all.push_back(batch.getDimSharding(axis));
  llvm::append_range(all, dims);
  auto sharding = ShardingAttr::get(context, meshName, all, {}, unreduced, ReduceKind::Add);
  return {ShardingConstraintOp::create(batch.getBuilder(), loc, value.value, sharding), value.axes};
}

Batched ManualExpansion::pin(Location loc, const Batched& value) {
  if (value.isUniform()) return value;
  auto open = DimShardingAttr::get(meshName.getContext(), {}, /*isOpen=*/true, std::nullopt);
  return constrain(loc, value, SmallVector<DimShardingAttr>(value.getShape().size(), open));
}

Batched ManualExpansion::toSummands(Location loc, const Batched& value, const AxisIndices& axes) {
  SmallVector<int64_t> shape(value.getType().getShape()), sizes = batch.getSizes(axes);
  shape.insert(shape.begin(), batch.getNumRanks(axes));
  OpBuilder& builder = batch.getBuilder();
  Value summands = SummandsOp::create(builder, loc, value.getType().clone(shape), value.value);
  // From [ranks, leading..., shape] to [sizes..., leading..., shape], and with leading dimensions first.
  shape.erase(shape.begin());
  shape.insert(shape.begin(), sizes.begin(), sizes.end());
  summands = batch.reshape(loc, {summands, {}}, shape).value;
  SmallVector<int64_t> permutation;
  for (size_t lead = 0; lead < value.axes.size(); ++lead) permutation.push_back(axes.size() + lead);
  for (size_t axis = 0; axis < axes.size(); ++axis) permutation.push_back(axis);
  for (size_t dim = axes.size() + value.axes.size(); dim < shape.size(); ++dim) permutation.push_back(dim);
  return batch.takeOut(loc, {batch.transpose(loc, summands, permutation), value.axes}, axes, 0);
}

Batched ManualExpansion::sum(Location loc, const Batched& value, const AxisIndices& axes) {
  // Equal summands stay one on each rank.
  Batched spread = pin(loc, batch.spread(loc, value, axes));
  SmallVector<int64_t> dims;
  for (unsigned axis : axes) dims.push_back(llvm::find(spread.axes, axis) - spread.axes.begin());
  AxisIndices remaining = without(spread.axes, axes);
  auto own = RankedTensorType::get(spread.getShape(), spread.getType().getElementType());
  return {ReduceOp::create(batch.getBuilder(), loc, batch.getBatchedType(remaining, own), spread.value, ReduceKind::Add,
                           dims),
          remaining};
}

/// A value from outside, cut for the ranks.
Batched ManualExpansion::enter(ManualComputationOp op, Batched value, ShardingAttr sharding) {
  Location loc = op.getLoc();
  if (AxisIndices summed = manualAxesOf(op, sharding.getUnreduced()); !summed.empty()) {
    llvm::sort(summed);
    value = toSummands(loc, value, summed);
  }
  for (auto [dim, dimSharding] : llvm::enumerate(sharding.getDims())) {
    AxisIndices axes = manualAxesOf(op, dimSharding.getAxes());
    if (axes.empty()) continue;
    SmallVector<int64_t> shape(value.getShape()), sizes = batch.getSizes(axes);
    shape[dim] /= batch.getNumRanks(axes);
    shape.insert(shape.begin() + dim, sizes.begin(), sizes.end());
    value = batch.takeOut(loc, batch.reshape(loc, value, shape), axes, dim);
  }
  return constrain(loc, value, freeDims(op, sharding));
}

/// The reverse. Along axes that the sharding does not name all ranks hold the same, as the program says.
Batched ManualExpansion::leave(ManualComputationOp op, Batched value, ShardingAttr sharding) {
  Location loc = op.getLoc();
  AxisIndices summed = manualAxesOf(op, sharding.getUnreduced());
  AxisIndices unnamed = without(manualAxesOf(op, op.getManualAxes().getAxes()), summed);
  for (DimShardingAttr dim : sharding.getDims()) unnamed = without(unnamed, manualAxesOf(op, dim.getAxes()));
  value = takeFirst(loc, value, unnamed, batch, /*isUniform=*/true);
  llvm::sort(summed);
  if (!summed.empty()) value = sum(loc, value, summed);
  value = constrain(loc, value, freeDims(op, sharding), sharding.getUnreduced());
  for (auto [dim, dimSharding] : llvm::enumerate(sharding.getDims())) {
    AxisIndices axes = manualAxesOf(op, dimSharding.getAxes());
    if (axes.empty()) continue;
    SmallVector<int64_t> shape(value.getShape());
    shape[dim] *= batch.getNumRanks(axes);
    value = batch.reshape(loc, batch.bringIn(loc, value, axes, dim), shape);
  }
  return constrain(loc, value, sharding.getDims(), sharding.getUnreduced());
}

Batched ManualExpansion::lookup(Value value) const {
  auto found = values.find(value);
  return found == values.end() ? Batched{value, {}} : found->second;
}

void ManualExpansion::defineKnown(Location loc, Value original) {
  AxisIndices unknown = without(ranks.getAxes(original), manualAxes);
  if (unknown.empty())
    values[original] = ranks.materialise(loc, original, batch);
  else
    beyond[original] = unknown[0];  // the rank's number, before it is reduced to an index along manual axes
}

LogicalResult ManualExpansion::checkOperand(Operation* op, Value operand) const {
  auto found = beyond.find(operand);
  if (found == beyond.end()) return success();
  return op->emitError() << "depends on the rank's index along the axis \"" << mesh.getRef(found->second).getName()
                         << "\", which is not manual here; name it among the axes of shard_map";
}

LogicalResult ManualExpansion::expandOp(Operation* op) {
  if (ranks.learn(op)) return defineKnown(op->getLoc(), op->getResult(0)), success();
  for (Value operand : op->getOperands()) {
    // Loops and branches make it anew where they need it.
    bool isMadeInside = isControlFlow(op) && ranks.isKnown(operand);
    if (!isMadeInside && failed(checkOperand(op, operand))) return failure();
  }
  if (auto loop = dyn_cast<WhileOp>(op)) return expandLoop(loop);
  if (auto branches = dyn_cast<CaseOp>(op)) return expandCase(branches);
  if (auto call = dyn_cast<HostCallOp>(op)) return expandHostCall(call);
  SmallVector<Batched> operands, results;
  for (Value operand : op->getOperands()) operands.push_back(lookup(operand));
  auto nested = dyn_cast<ManualComputationOp>(op);
  if (failed(nested ? expandNested(nested, operands, results) : batchOp(op, operands, batch, results)))
    return failure();
  for (auto [original, result] : llvm::zip(op->getResults(), results)) values[original] = result;
  return success();
}

LogicalResult ManualExpansion::expandBlock(Block& block) {
  for (Operation& op : block.without_terminator())
    if (failed(expandOp(&op))) return failure();
  return success();
}

LogicalResult ManualExpansion::expandNested(ManualComputationOp op, ArrayRef<Batched> inputs,
                                            SmallVectorImpl<Batched>& results) {
  AxisIndices own = manualAxesOf(op, op.getManualAxes().getAxes());
  if (without(own, manualAxes).size() != own.size())
    return op.emitOpError(
        "is manual over an axis that is manual around it already; expected another axis; drop it from the inner "
        "shard_map");
  AxisIndices outer = manualAxes;
  manualAxes = unite(manualAxes, own);
  Block& body = op.getBody().front();
  for (auto [argument, input, sharding] : llvm::zip(body.getArguments(), inputs, op.getInShardings()))
    values[argument] = enter(op, input, cast<ShardingAttr>(sharding));
  if (failed(expandBlock(body))) return failure();
  for (Value yielded : body.getTerminator()->getOperands())
    if (failed(checkOperand(op, yielded))) return failure();
  for (auto [yielded, sharding] : llvm::zip(body.getTerminator()->getOperands(), op.getOutShardings()))
    results.push_back(leave(op, lookup(yielded), cast<ShardingAttr>(sharding)));
  manualAxes = outer;
  return success();
}

LogicalResult ManualExpansion::expand(ManualComputationOp op, SmallVectorImpl<Batched>& results) {
  SmallVector<Batched> inputs;
  for (Value input : op.getInputs()) inputs.push_back({input, {}});
  differing.visit(op, SmallVector<AxisIndices>(inputs.size()));
  return expandNested(op, inputs, results);
}
