// The pass sgd-expand-manual: operands are cut, the body is stacked op by op, results are put together.
#include "passes/manual/passes.h"
#include "passes/manual/rank_arithmetic.h"
#include "passes/manual/stack_op.h"

namespace mlir::sgd {
#define GEN_PASS_DEF_EXPANDMANUALPASS
#include "passes/manual/passes.h.inc"
}  // namespace mlir::sgd

using namespace mlir;
using namespace mlir::sgd;

namespace {
/// Expands a manual computation and those nested in it.
class ManualExpansion {
 public:
  ManualExpansion(OpBuilder& builder, FlatSymbolRefAttr meshName, const CutMesh& mesh)
      : meshName(meshName), mesh(mesh), stack(builder, mesh), ranks(mesh) {}

  /// `inputs` are the op's operands; appends its results.
  LogicalResult expand(ManualComputationOp op, ArrayRef<Stacked> inputs, SmallVectorImpl<Stacked>& results);

 private:
  LogicalResult expandOp(Operation* op);
  Stacked lookup(Value value) const;
  Stacked enter(ManualComputationOp op, Stacked value, ShardingAttr sharding);
  Stacked leave(ManualComputationOp op, Stacked value, ShardingAttr sharding);
  Stacked constrain(Location loc, const Stacked& value, ArrayRef<DimShardingAttr> dims);
  SmallVector<DimShardingAttr> freeDims(ManualComputationOp op, ShardingAttr sharding) const;
  AxisIndices manualAxesOf(ManualComputationOp op, ArrayRef<AxisRefAttr> axes) const;

  FlatSymbolRefAttr meshName;
  const CutMesh& mesh;
  StackBuilder stack;
  RankArithmetic ranks;
  AxisIndices manualAxes;  // of all computations around the op at hand
  DenseMap<Value, Stacked> values;
  DenseMap<Value, unsigned> beyond;  // scalars that differ along an axis, this one, that is not manual
};
}  // namespace

static bool isManual(ManualComputationOp op, AxisRefAttr axis) {
  return llvm::any_of(op.getManualAxes().getAxes(),
                      [&](AxisRefAttr manual) { return manual.getName() == axis.getName(); });
}

/// Parts of those of `axes` that are manual in `op`, in order.
AxisIndices ManualExpansion::manualAxesOf(ManualComputationOp op, ArrayRef<AxisRefAttr> axes) const {
  auto manual = llvm::filter_to_vector(axes, [&](AxisRefAttr axis) { return isManual(op, axis); });
  return AxisIndices(mesh.find(manual));
}

/// What remains of a sharding within the computation.
SmallVector<DimShardingAttr> ManualExpansion::freeDims(ManualComputationOp op, ShardingAttr sharding) const {
  SmallVector<DimShardingAttr> dims;
  for (DimShardingAttr dim : sharding.getDims()) {
    ArrayRef<AxisRefAttr> axes = dim.getAxes().drop_while([&](AxisRefAttr axis) { return isManual(op, axis); });
    dims.push_back(DimShardingAttr::get(op.getContext(), axes, dim.getIsOpen(), dim.getPriority()));
  }
  return dims;
}

/// Leading dimensions lie where their ranks are; `dims` are those of what each rank sees.
Stacked ManualExpansion::constrain(Location loc, const Stacked& value, ArrayRef<DimShardingAttr> dims) {
  MLIRContext* context = meshName.getContext();
  SmallVector<DimShardingAttr> all;
  for (unsigned axis : value.axes) all.push_back(stack.getDimSharding(axis));
  llvm::append_range(all, dims);
  auto sharding = ShardingAttr::get(context, meshName, all, {}, {}, ReduceKind::Add);
  return {ShardingConstraintOp::create(stack.getBuilder(), loc, value.value, sharding), value.axes};
}

/// A value from outside, cut for the ranks.
Stacked ManualExpansion::enter(ManualComputationOp op, Stacked value, ShardingAttr sharding) {
  Location loc = op.getLoc();
  for (auto [dim, dimSharding] : llvm::enumerate(sharding.getDims())) {
    AxisIndices axes = manualAxesOf(op, dimSharding.getAxes());
    if (axes.empty()) continue;
    SmallVector<int64_t> shape(value.getShape()), sizes = stack.getSizes(axes);
    shape[dim] /= stack.getNumRanks(axes);
    shape.insert(shape.begin() + dim, sizes.begin(), sizes.end());
    value = stack.takeOut(loc, stack.reshape(loc, value, shape), axes, dim);
  }
  return constrain(loc, value, freeDims(op, sharding));
}

/// The reverse. Axes that the sharding does not name: what the first rank holds.
Stacked ManualExpansion::leave(ManualComputationOp op, Stacked value, ShardingAttr sharding) {
  Location loc = op.getLoc();
  AxisIndices unnamed = manualAxesOf(op, op.getManualAxes().getAxes());
  for (DimShardingAttr dim : sharding.getDims()) unnamed = without(unnamed, manualAxesOf(op, dim.getAxes()));
  value = constrain(loc, takeFirst(loc, value, unnamed, stack), freeDims(op, sharding));
  for (auto [dim, dimSharding] : llvm::enumerate(sharding.getDims())) {
    AxisIndices axes = manualAxesOf(op, dimSharding.getAxes());
    if (axes.empty()) continue;
    SmallVector<int64_t> shape(value.getShape());
    shape[dim] *= stack.getNumRanks(axes);
    value = stack.reshape(loc, stack.bringIn(loc, value, axes, dim), shape);
  }
  return constrain(loc, value, sharding.getDims());
}

/// A value of the body, or one from outside that all ranks know.
Stacked ManualExpansion::lookup(Value value) const {
  auto found = values.find(value);
  return found == values.end() ? Stacked{value, {}} : found->second;
}

LogicalResult ManualExpansion::expandOp(Operation* op) {
  if (ranks.learn(op)) {
    Stacked known = ranks.materialise(op->getLoc(), op->getResult(0), stack);
    AxisIndices unknown = without(known.axes, manualAxes);
    if (unknown.empty()) {
      values[op->getResult(0)] = known;
      return success();
    }
    // The rank's number, before it is reduced to an index along manual axes.
    known.value.getDefiningOp()->erase();
    beyond[op->getResult(0)] = unknown[0];
    return success();
  }
  for (Value operand : op->getOperands())
    if (auto found = beyond.find(operand); found != beyond.end())
      return op->emitError() << "depends on the rank's index along the axis \"" << mesh.getRef(found->second).getName()
                             << "\", which is not manual here; name it among the axes of shard_map";
  SmallVector<Stacked> operands, results;
  for (Value operand : op->getOperands()) operands.push_back(lookup(operand));
  auto nested = dyn_cast<ManualComputationOp>(op);
  if (failed(nested ? expand(nested, operands, results) : stackOp(op, operands, stack, results))) return failure();
  for (auto [original, result] : llvm::zip(op->getResults(), results)) values[original] = result;
  return success();
}

LogicalResult ManualExpansion::expand(ManualComputationOp op, ArrayRef<Stacked> inputs,
                                      SmallVectorImpl<Stacked>& results) {
  AxisIndices own = manualAxesOf(op, op.getManualAxes().getAxes());
  if (without(own, manualAxes).size() != own.size())
    return op.emitOpError("is manual over an axis that is manual around it already");
  AxisIndices outer = manualAxes;
  manualAxes = unite(manualAxes, own);
  Block& body = op.getBody().front();
  for (auto [argument, input, sharding] : llvm::zip(body.getArguments(), inputs, op.getInShardings()))
    values[argument] = enter(op, input, cast<ShardingAttr>(sharding));
  for (Operation& nested : body.without_terminator())
    if (failed(expandOp(&nested))) return failure();
  for (auto [yielded, sharding] : llvm::zip(body.getTerminator()->getOperands(), op.getOutShardings()))
    results.push_back(leave(op, lookup(yielded), cast<ShardingAttr>(sharding)));
  manualAxes = outer;
  return success();
}

namespace {
struct ExpandManualPass : mlir::sgd::impl::ExpandManualPassBase<ExpandManualPass> {
  using ExpandManualPassBase::ExpandManualPassBase;

  void runOnOperation() override {
    MeshOp mesh = getMesh(getOperation());
    SmallVector<ManualComputationOp> regions;
    getOperation()->walk<WalkOrder::PreOrder>([&](ManualComputationOp op) {
      regions.push_back(op);
      return WalkResult::skip();
    });
    if (regions.empty()) return;
    std::optional<CutMesh> cut = CutMesh::create(mesh.getMesh(), getCollectiveAxes(regions));
    if (!cut) {
      regions[0].emitError(
          "has collectives over parts of an axis that do not nest, such as 2 x 3 and 3 x 2 of 6 ranks; give "
          "the mesh an axis for each part");
      return signalPassFailure();
    }
    for (ManualComputationOp op : regions) {
      OpBuilder builder(op);
      SmallVector<Stacked> inputs, results;
      for (Value input : op.getInputs()) inputs.push_back({input, {}});
      ManualExpansion expansion(builder, FlatSymbolRefAttr::get(mesh.getSymNameAttr()), *cut);
      if (failed(expansion.expand(op, inputs, results))) return signalPassFailure();
      for (auto [original, result] : llvm::zip(op.getResults(), results)) original.replaceAllUsesWith(result.value);
      Block* block = op->getBlock();
      op.erase();
      eraseDead(*block);
    }
  }

  /// What collectives go over.
  static SmallVector<AxisRefAttr> getCollectiveAxes(ArrayRef<ManualComputationOp> regions) {
    SmallVector<AxisRefAttr> refs;
    for (ManualComputationOp region : regions)
      region->walk([&](Operation* op) {
        for (NamedAttribute attribute : op->getAttrs())
          if (auto axes = dyn_cast<AxisListAttr>(attribute.getValue())) llvm::append_range(refs, axes.getAxes());
      });
    return refs;
  }

  /// Indices of ranks that nobody uses.
  static void eraseDead(Block& block) {
    for (Operation& op : llvm::make_early_inc_range(llvm::reverse(block)))
      if (isa<arith::ConstantOp>(op) && op.use_empty()) op.erase();
  }
};
}  // namespace
