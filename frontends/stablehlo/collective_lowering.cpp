// Collectives of manual computations. Their groups, which the input gives as lists of ranks, must be those of mesh
// axes, or of parts of them, over which the computation is manual.
#include "dialects/spmd/spmd_dialect.h"
#include "frontends/stablehlo/collective_axes.h"
#include "frontends/stablehlo/combiner.h"
#include "frontends/stablehlo/input/library_ops.h"
#include "frontends/stablehlo/input/region_ops.h"
#include "frontends/stablehlo/op_lowering.h"
#include "frontends/stablehlo/replica_groups.h"

using namespace mlir;
using namespace mlir::sgd;

namespace {

/// The mesh on which `l` is manual: its sizes, name, and which axes are.
struct ManualMesh {
  MeshAttr mesh;
  FlatSymbolRefAttr name;
  SmallVector<bool> isManual;
  SmallVector<int64_t> sizes;

  /// Fails outside of manual computations.
  static FailureOr<ManualMesh> find(OpLowering& l) {
    ManualMesh result;
    for (Operation* op = l.builder.getInsertionBlock()->getParentOp(); op; op = op->getParentOp()) {
      auto manual = dyn_cast<ManualComputationOp>(op);
      if (!manual) continue;
      if (!result.mesh) {
        result.name = manual.getManualAxes().getMesh();
        result.mesh = lookupMesh(manual, result.name);
        for (MeshAxisAttr axis : result.mesh.getAxes()) result.sizes.push_back(axis.getSize());
        result.isManual.resize(result.sizes.size());
      }
      for (AxisRefAttr axis : manual.getManualAxes().getAxes())
        result.isManual[*result.mesh.getAxisIndex(axis.getName())] = true;
    }
    if (!result.mesh)
      return l.error()
             << "stands outside of a manual computation; use it in jax.shard_map over a mesh, or let shardings "
                "imply what is sent";
    return result;
  }

  FailureOr<AxisListAttr> getAxes(OpLowering& l, ArrayRef<SubAxis> subAxes) const {
    SmallVector<AxisRefAttr> refs;
    for (auto [axis, before, size] : subAxes) {
      StringRef axisName = mesh.getAxes()[axis].getName();
      if (!isManual[axis])
        return l.error() << "communicates over the axis \"" << axisName
                         << "\", which is not manual here; name it among the axes of shard_map";
      refs.push_back(size == sizes[axis] ? AxisRefAttr::get(mesh.getContext(), axisName)
                                         : AxisRefAttr::get(mesh.getContext(), axisName, before, size));
    }
    return AxisListAttr::get(mesh.getContext(), name, refs);
  }
};

/// Whether the program is of one device: JAX lowers shard_map and pmap over one without a manual computation.
bool isOfOneDevice(OpLowering& l) {
  auto module = l.op->getParentOfType<ModuleOp>();
  auto replicas = module->getAttrOfType<IntegerAttr>("mhlo.num_replicas"),
       partitions = module->getAttrOfType<IntegerAttr>("mhlo.num_partitions");
  return partitions && partitions.getInt() == 1 && (!replicas || replicas.getInt() == 1) &&
         !l.builder.getInsertionBlock()->getParent()->getParentOfType<ManualComputationOp>();
}

/// Results of a device that communicates with itself alone.
LogicalResult keepOperands(OpLowering& l) {
  for (auto [index, operand] : llvm::enumerate(l.operands)) {
    if (operand.getType() != l.getResultType(index))
      return l.error() << "has operand " << index << " of type " << operand.getType() << " and a result of type "
                       << l.getResultType(index)
                       << " in a program of one device; expected equal types; correct mhlo.num_partitions";
    l.results.push_back(operand);
  }
  return success();
}

/// The same of a permute; who receives nothing gets zeros.
LogicalResult permuteAlone(OpLowering& l) {
  if (!cast<stablehlo::CollectivePermuteOp>(l.op).getSourceTargetPairs().empty()) return keepOperands(l);
  for (Value operand : l.operands) l.results.push_back(l.splat(cast<RankedTensorType>(operand.getType()), 0.0));
  return success();
}

/// The number of the only device.
LogicalResult lowerOnlyId(OpLowering& l) { return l.finish(l.splat(l.getResultType(), 0.0)); }

/// `lower`, or `alone` in a program of one device.
template <LowerFn lower, LowerFn alone = keepOperands>
LogicalResult unlessAlone(OpLowering& l) {
  return isOfOneDevice(l) ? alone(l) : lower(l);
}

SmallVector<SmallVector<int64_t>> getRows(DenseIntElementsAttr matrix) {
  SmallVector<SmallVector<int64_t>> rows;
  int64_t columns = matrix.getType().getRank() == 2 ? matrix.getType().getDimSize(1) : 0;
  for (auto [index, value] : llvm::enumerate(matrix.getValues<APInt>())) {
    if (columns == 0) break;
    if (index % columns == 0) rows.emplace_back();
    rows.back().push_back(value.getSExtValue());
  }
  return rows;
}

}  // namespace

FailureOr<AxisListAttr> mlir::sgd::findCollectiveAxes(OpLowering& l, DenseIntElementsAttr replicaGroups) {
  FailureOr<ManualMesh> manual = ManualMesh::find(l);
  if (failed(manual)) return failure();
  SmallVector<SmallVector<int64_t>> groups = getRows(replicaGroups);
  if (groups.empty()) {
    groups.emplace_back();
    for (int64_t rank = 0; rank < manual->mesh.getNumRanks(); ++rank) groups.back().push_back(rank);
  }
  auto subAxes = findGroupSubAxes(manual->sizes, groups);
  if (!subAxes)
    return l.error() << "has replica_groups " << replicaGroups << ", which are not the groups of axes of "
                     << manual->mesh
                     << " or of parts of them; give the groups an axis of the mesh instead of axis_index_groups";
  return manual->getAxes(l, *subAxes);
}

namespace {

FailureOr<ReduceKind> findKind(OpLowering& l, Region& body) {
  std::optional<ReduceKind> kind = matchCombiner(body.front(), 0, 1);
  if (!kind)
    return l.error() << "combines by a body that is not one op of add, multiply, maximum, minimum, and, or, xor";
  return *kind;
}

LogicalResult lowerAllReduce(OpLowering& l) {
  auto op = cast<stablehlo::AllReduceOp>(l.op);
  FailureOr<AxisListAttr> axes = findCollectiveAxes(l, cast<DenseIntElementsAttr>(op.getReplicaGroups()));
  if (failed(axes)) return failure();
  FailureOr<ReduceKind> kind = findKind(l, op.getComputation());
  if (failed(kind)) return failure();
  for (Value operand : l.operands)
    l.results.push_back(
        spmd::AllReduceOp::create(l.builder, l.loc, TypeRange{operand.getType()}, ValueRange{operand}, *kind, *axes)
            .getResult(0));
  return success();
}

LogicalResult lowerReduceScatter(OpLowering& l) {
  auto op = cast<stablehlo::ReduceScatterOp>(l.op);
  FailureOr<AxisListAttr> axes = findCollectiveAxes(l, cast<DenseIntElementsAttr>(op.getReplicaGroups()));
  if (failed(axes)) return failure();
  FailureOr<ReduceKind> kind = findKind(l, op.getComputation());
  if (failed(kind)) return failure();
  return l.finish(spmd::ReduceScatterOp::create(l.builder, l.loc, TypeRange{l.getResultType()}, l.operands, *kind,
                                                ArrayRef<int64_t>{static_cast<int64_t>(op.getScatterDimension())},
                                                *axes)
                      .getResult(0));
}

LogicalResult lowerAllGather(OpLowering& l) {
  auto op = cast<stablehlo::AllGatherOp>(l.op);
  FailureOr<AxisListAttr> axes = findCollectiveAxes(l, cast<DenseIntElementsAttr>(op.getReplicaGroups()));
  if (failed(axes)) return failure();
  for (auto [index, operand] : llvm::enumerate(l.operands))
    l.results.push_back(spmd::AllGatherOp::create(l.builder, l.loc, TypeRange{l.getResultType(index)},
                                                  ValueRange{operand},
                                                  ArrayRef<int64_t>{static_cast<int64_t>(op.getAllGatherDim())}, *axes)
                            .getResult(0));
  return success();
}

LogicalResult lowerAllToAll(OpLowering& l) {
  auto op = cast<stablehlo::AllToAllOp>(l.op);
  FailureOr<AxisListAttr> axes = findCollectiveAxes(l, cast<DenseIntElementsAttr>(op.getReplicaGroups()));
  if (failed(axes)) return failure();
  std::optional<int64_t> ranks = spmd::getGroupSize(l.builder.getInsertionBlock()->getParentOp(), *axes);
  if (ranks != static_cast<int64_t>(op.getSplitCount()))
    return l.error() << "splits in " << op.getSplitCount() << " parts for groups of " << *ranks << " ranks";
  for (auto [index, operand] : llvm::enumerate(l.operands))
    l.results.push_back(l.create<spmd::AllToAllOp>(l.getResultType(index), operand, op.getSplitDimension(),
                                                   op.getConcatDimension(), *axes));
  return success();
}

LogicalResult lowerCollectivePermute(OpLowering& l) {
  auto op = cast<stablehlo::CollectivePermuteOp>(l.op);
  FailureOr<ManualMesh> manual = ManualMesh::find(l);
  if (failed(manual)) return failure();
  SmallVector<int64_t> pairs;
  for (ArrayRef<int64_t> pair : getRows(cast<DenseIntElementsAttr>(op.getSourceTargetPairs()))) {
    if (pair.size() != 2)
      return l.error() << "has " << pair.size()
                       << " ranks in a pair; expected a source and a target; correct "
                          "source_target_pairs";
    llvm::append_range(pairs, pair);
  }
  std::optional<AxisPairs> found = findPairAxes(manual->sizes, pairs);
  if (!found)
    return l.error() << "names ranks that " << manual->mesh
                     << " does not have; expected ranks from 0 below its size; correct source_target_pairs";
  auto whole = llvm::map_to_vector(found->axes, [&](unsigned axis) { return SubAxis{axis, 1, manual->sizes[axis]}; });
  FailureOr<AxisListAttr> axes = manual->getAxes(l, whole);
  if (failed(axes)) return failure();
  for (Value operand : l.operands) l.results.push_back(l.create<PermuteRanksOp>(operand, found->pairs, *axes));
  return success();
}

LogicalResult lowerCollectiveBroadcast(OpLowering& l) {
  auto op = cast<stablehlo::CollectiveBroadcastOp>(l.op);
  FailureOr<AxisListAttr> axes = findCollectiveAxes(l, cast<DenseIntElementsAttr>(op.getReplicaGroups()));
  if (failed(axes)) return failure();
  for (Value operand : l.operands) l.results.push_back(l.create<spmd::BroadcastOp>(operand.getType(), operand, *axes));
  return success();
}

/// The rank's number on the whole mesh: JAX divides it by the sizes of axes.
LogicalResult lowerPartitionId(OpLowering& l) {
  FailureOr<ManualMesh> manual = ManualMesh::find(l);
  if (failed(manual)) return failure();
  SmallVector<AxisRefAttr> axes;
  for (MeshAxisAttr axis : manual->mesh.getAxes())
    axes.push_back(AxisRefAttr::get(l.builder.getContext(), axis.getName()));
  return l.replace<spmd::PartitionIdOp>(l.getResultType(),
                                        AxisListAttr::get(l.builder.getContext(), manual->name, axes));
}

/// Programs have one replica.
LogicalResult lowerReplicaId(OpLowering& l) { return l.finish(l.splat(l.getResultType(), 0.0)); }

}  // namespace

void mlir::sgd::addCollectiveLowerings(LoweringTable& table) {
  table["stablehlo.all_reduce"] = unlessAlone<lowerAllReduce>;
  table["stablehlo.reduce_scatter"] = unlessAlone<lowerReduceScatter>;
  table["stablehlo.all_gather"] = unlessAlone<lowerAllGather>;
  table["stablehlo.all_to_all"] = unlessAlone<lowerAllToAll>;
  table["stablehlo.collective_permute"] = unlessAlone<lowerCollectivePermute, permuteAlone>;
  table["stablehlo.collective_broadcast"] = unlessAlone<lowerCollectiveBroadcast>;
  table["stablehlo.partition_id"] = unlessAlone<lowerPartitionId, lowerOnlyId>;
  table["stablehlo.replica_id"] = lowerReplicaId;
}
