// Each collective is written as what a rank ends up with, looking at the operands of its whole group.
#include "reference/collectives.h"

#include "reference/groups.h"
#include "reference/scalar.h"

using namespace mlir;
using namespace mlir::sgd;
using namespace mlir::sgd::reference;

namespace {

/// The axes of `list` on the mesh that it names.
struct Axes {
  MeshAttr mesh;
  ArrayRef<AxisRefAttr> axes;

  Axes(Operation* op, AxisListAttr list) : mesh(lookupMesh(op, list.getMesh())), axes(list.getAxes()) {}
  int64_t indexOf(int64_t rank) const { return getLinearIndex(mesh, axes, rank); }
  SmallVector<int64_t> groupOf(int64_t rank) const { return getGroup(mesh, axes, rank); }
};

/// Part `index` of `whole`, cut along `dim` in pieces of the size of `part`.
void copyPart(const Tensor& whole, int64_t dim, int64_t index, Tensor& part) {
  forEachIndex(part.shape(), [&](ArrayRef<int64_t> at, int64_t flat) {
    Index from(at);
    from[dim] += index * part.type.getDimSize(dim);
    part.copy(flat, whole, flatten(from, whole.shape()));
  });
}

/// Puts `piece` into `whole` as piece number `index` along `dim`.
void placePart(const Tensor& piece, int64_t dim, int64_t index, Tensor& whole) {
  forEachIndex(piece.shape(), [&](ArrayRef<int64_t> at, int64_t flat) {
    Index to(at);
    to[dim] += index * piece.type.getDimSize(dim);
    whole.copy(flatten(to, whole.shape()), piece, flat);
  });
}

/// a = a op b, element by element.
void combineInto(ReduceKind kind, Tensor& a, const Tensor& b) {
  FloatCombiner combineFloats = getFloatCombiner(kind);
  for (int64_t i = 0; i < a.size(); ++i) {
    if (a.isFloat())
      a.floats[i] = combineFloats(a.floats[i], b.floats[i]);
    else
      a.integers[i] = combine(kind, a.integers[i], b.integers[i], a.element());
  }
}

/// A balanced tree over the positions of the group: blocks of 2^k neighbours, and what is left over joins from the
/// right (docs/decisions/030-order-of-reductions.md).
Tensor combineTree(ReduceKind kind, const RankTensors& in, ArrayRef<int64_t> group) {
  if (group.size() == 1) return in[group.front()];
  size_t left = llvm::PowerOf2Ceil(group.size()) / 2;
  Tensor sum = combineTree(kind, in, group.take_front(left));
  combineInto(kind, sum, combineTree(kind, in, group.drop_front(left)));
  return sum;
}

/// The group's operands combined element by element, rounded once.
FailureOr<Tensor> combineGroup(Operation* op, ReduceKind kind, const RankTensors& in, ArrayRef<int64_t> group) {
  if (in[group.front()].isFloat() && !getFloatCombiner(kind))
    return op->emitOpError("has no reference evaluation for floats; expected integers; convert the operands"),
           failure();
  Tensor sum = combineTree(kind, in, group);
  for (double& value : sum.floats) value = roundTo(value, sum.element());
  return sum;
}

LogicalResult evaluateAllReduce(spmd::AllReduceOp op, ArrayRef<const RankTensors*> in,
                                MutableArrayRef<RankTensors> out) {
  Axes axes(op, op.getAxes());
  for (auto [source, target] : llvm::zip(in, out)) {
    for (auto [rank, result] : llvm::enumerate(target)) {
      FailureOr<Tensor> sum = combineGroup(op, op.getKind(), *source, axes.groupOf(rank));
      if (failed(sum)) return failure();
      result = std::move(*sum);
    }
  }
  return success();
}

LogicalResult evaluateReduceScatter(spmd::ReduceScatterOp op, ArrayRef<const RankTensors*> in,
                                    MutableArrayRef<RankTensors> out) {
  Axes axes(op, op.getAxes());
  for (auto [source, target, dim] : llvm::zip(in, out, op.getDims())) {
    for (auto [rank, result] : llvm::enumerate(target)) {
      FailureOr<Tensor> sum = combineGroup(op, op.getKind(), *source, axes.groupOf(rank));
      if (failed(sum)) return failure();
      copyPart(*sum, dim, axes.indexOf(rank), result);
    }
  }
  return success();
}

void evaluateAllGather(spmd::AllGatherOp op, ArrayRef<const RankTensors*> in, MutableArrayRef<RankTensors> out) {
  Axes axes(op, op.getAxes());
  for (auto [source, target, dim] : llvm::zip(in, out, op.getDims()))
    for (auto [rank, result] : llvm::enumerate(target))
      for (auto [index, peer] : llvm::enumerate(axes.groupOf(rank))) placePart((*source)[peer], dim, index, result);
}

void evaluateAllToAll(spmd::AllToAllOp op, const RankTensors& in, RankTensors& out) {
  Axes axes(op, op.getAxes());
  for (auto [rank, result] : llvm::enumerate(out)) {
    SmallVector<int64_t> group = axes.groupOf(rank);
    int64_t parts = group.size();
    auto shape = llvm::to_vector(in[rank].shape());
    shape[op.getSplit()] /= parts;
    for (auto [index, peer] : llvm::enumerate(group)) {
      Tensor part(in[rank].type.clone(shape));
      copyPart(in[peer], op.getSplit(), axes.indexOf(rank), part);
      placePart(part, op.getConcat(), index, result);
    }
  }
}

/// Element by element: its position in the dimension, and the rank that holds it.
void evaluateGatherRange(spmd::GatherRangeOp op, ArrayRef<const RankTensors*> in, MutableArrayRef<RankTensors> out) {
  Axes tiles(op, op.getAxes()), results(op, op.getTo());
  for (auto [source, target, range] : llvm::zip(in, out, op.getRanges().getAsRange<RangeAttr>())) {
    int64_t dim = range.getDim(), tile = source->front().type.getDimSize(dim);
    for (auto [rank, result] : llvm::enumerate(target)) {
      SmallVector<int64_t> group = tiles.groupOf(rank);
      int64_t start =
          llvm::divideFloorSigned(range.getScale() * results.indexOf(rank) + range.getOffset(), range.getDivisor());
      forEachIndex(result.shape(), [&, &source = source, &result = result](ArrayRef<int64_t> at, int64_t flat) {
        int64_t position = start + at[dim] * range.getStep();
        if (position < 0 || position >= range.getSize()) return;
        Index from(at);
        from[dim] = position % tile;
        const Tensor& sender = (*source)[group[position / tile]];
        result.copy(flat, sender, flatten(from, sender.shape()));
      });
    }
  }
}

void evaluatePermute(spmd::CollectivePermuteOp op, const RankTensors& in, RankTensors& out) {
  Axes from(op, op.getFrom()), to(op, op.getTo());
  for (auto [rank, result] : llvm::enumerate(out))
    for (int64_t peer : from.groupOf(rank))
      if (from.indexOf(peer) == to.indexOf(rank)) result = in[peer];
}

/// Ranks that no pair names as a target keep the zeros of `out`.
void evaluatePermuteRanks(PermuteRanksOp op, const RankTensors& in, RankTensors& out) {
  Axes axes(op, op.getAxes());
  ArrayRef<int64_t> pairs = op.getPairs();
  for (auto [rank, result] : llvm::enumerate(out))
    for (size_t i = 0; i < pairs.size(); i += 2)
      if (pairs[i + 1] == axes.indexOf(rank)) result = in[axes.groupOf(rank)[pairs[i]]];
}

/// The axes of dimension `dim` over which `op` is manual.
Axes getManualAxes(ManualComputationOp op, ShardingAttr sharding, unsigned dim, SmallVectorImpl<AxisRefAttr>& storage) {
  for (AxisRefAttr axis : sharding.getDims()[dim].getAxes())
    if (llvm::any_of(op.getManualAxes().getAxes(),
                     [&](AxisRefAttr manual) { return manual.getName() == axis.getName(); }))
      storage.push_back(axis);
  return Axes(op, AxisListAttr::get(op.getContext(), op.getManualAxes().getMesh(), storage));
}

/// The manual axes over which a value is unreduced.
Axes getSummedAxes(ManualComputationOp op, ShardingAttr sharding) {
  return Axes(op, AxisListAttr::get(op.getContext(), op.getManualAxes().getMesh(), sharding.getUnreduced()));
}

}  // namespace

RankTensors reference::enterManual(ManualComputationOp op, RankTensors values, ShardingAttr sharding) {
  for (unsigned dim = 0; dim < sharding.getDims().size(); ++dim) {
    SmallVector<AxisRefAttr> storage;
    Axes axes = getManualAxes(op, sharding, dim, storage);
    for (auto [rank, value] : llvm::enumerate(values)) {
      SmallVector<int64_t> shape(value.shape());
      shape[dim] /= static_cast<int64_t>(axes.groupOf(rank).size());
      Tensor part(value.type.clone(shape));
      copyPart(value, dim, axes.indexOf(rank), part);
      value = std::move(part);
    }
  }
  // The first rank has the value as its summand.
  Axes summed = getSummedAxes(op, sharding);
  for (auto [rank, value] : llvm::enumerate(values))
    if (summed.indexOf(rank) != 0) value = Tensor(value.type);
  return values;
}

RankTensors reference::leaveManual(ManualComputationOp op, RankTensors values, ShardingAttr sharding) {
  SmallVector<AxisRefAttr> unnamed(op.getManualAxes().getAxes());
  for (unsigned dim = 0; dim < sharding.getDims().size(); ++dim) {
    SmallVector<AxisRefAttr> storage;
    Axes axes = getManualAxes(op, sharding, dim, storage);
    llvm::erase_if(unnamed, [&](AxisRefAttr axis) { return llvm::is_contained(storage, axis); });
    RankTensors parts = values;
    for (auto [rank, value] : llvm::enumerate(values)) {
      SmallVector<int64_t> group = axes.groupOf(rank), shape(value.shape());
      shape[dim] *= static_cast<int64_t>(group.size());
      value = Tensor(value.type.clone(shape));
      for (auto [index, peer] : llvm::enumerate(group)) placePart(parts[peer], dim, index, value);
    }
  }
  Axes summed = getSummedAxes(op, sharding);
  RankTensors summands = values;
  for (auto [rank, value] : llvm::enumerate(values))
    value = combineTree(ReduceKind::Add, summands, summed.groupOf(rank));
  // Along axes that the sharding does not name the first rank's value counts.
  Axes axes(op, AxisListAttr::get(op.getContext(), op.getManualAxes().getMesh(), unnamed));
  RankTensors results;
  for (size_t rank = 0; rank < values.size(); ++rank) results.push_back(values[axes.groupOf(rank).front()]);
  return results;
}

LogicalResult reference::evaluateCollective(Operation* op, ArrayRef<const RankTensors*> in,
                                            MutableArrayRef<RankTensors> out) {
  if (auto reduce = dyn_cast<spmd::AllReduceOp>(op)) return evaluateAllReduce(reduce, in, out);
  if (auto scatter = dyn_cast<spmd::ReduceScatterOp>(op)) return evaluateReduceScatter(scatter, in, out);
  if (auto gather = dyn_cast<spmd::AllGatherOp>(op)) {
    evaluateAllGather(gather, in, out);
  } else if (auto allToAll = dyn_cast<spmd::AllToAllOp>(op)) {
    evaluateAllToAll(allToAll, *in[0], out[0]);
  } else if (auto permute = dyn_cast<spmd::CollectivePermuteOp>(op)) {
    evaluatePermute(permute, *in[0], out[0]);
  } else if (auto ranges = dyn_cast<spmd::GatherRangeOp>(op)) {
    evaluateGatherRange(ranges, in, out);
  } else if (auto broadcast = dyn_cast<spmd::BroadcastOp>(op)) {
    Axes axes(op, broadcast.getAxes());
    for (auto [rank, result] : llvm::enumerate(out[0])) result = (*in[0])[axes.groupOf(rank).front()];
  } else if (auto slice = dyn_cast<spmd::ShardSliceOp>(op)) {
    Axes axes(op, slice.getAxes());
    for (auto [rank, result] : llvm::enumerate(out[0]))
      copyPart((*in[0])[rank], slice.getDim(), axes.indexOf(rank), result);
  } else if (auto id = dyn_cast<spmd::PartitionIdOp>(op)) {
    Axes axes(op, id.getAxes());
    for (auto [rank, result] : llvm::enumerate(out[0])) result.setInteger(0, axes.indexOf(rank));
  } else if (auto permuteRanks = dyn_cast<PermuteRanksOp>(op)) {
    evaluatePermuteRanks(permuteRanks, *in[0], out[0]);
  } else {
    return op->emitOpError(
        "has no reference evaluation; expected an op that docs/reference/operations.md lists as evaluated; add it to "
        "reference/");
  }
  return success();
}
