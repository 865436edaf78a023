// Exports of collectives: groups of mesh axes as lists of partitions.
#include <map>
#include <set>

#include "frontends/stablehlo/export/op_export.h"
#include "frontends/stablehlo/input/library_ops.h"
#include "frontends/stablehlo/input/region_ops.h"
#include "frontends/stablehlo/input/shape_ops.h"
#include "runtime/comm/collectives/tile_range.h"

#include "dialects/spmd/ranges.h"

using namespace mlir;
using namespace mlir::sgd;
using ::sgd::comm::SubAxis;

namespace {

using SubAxes = SmallVector<SubAxis>;

SubAxes getSubAxes(MeshAttr mesh, AxisListAttr list) {
  SubAxes subAxes;
  for (AxisRefAttr axis : list.getAxes()) {
    unsigned index = *mesh.getAxisIndex(axis.getName());
    uint64_t stride = 1;
    for (MeshAxisAttr later : mesh.getAxes().drop_front(index + 1)) stride *= later.getSize();
    uint64_t size = mesh.getAxes()[index].getSize();
    if (!axis.isWholeAxis()) {
      stride *= size / (axis.getPreSize() * axis.getSize());
      size = axis.getSize();
    }
    subAxes.push_back({stride, size});
  }
  return subAxes;
}

uint64_t getSize(ArrayRef<SubAxis> subAxes) {
  uint64_t size = 1;
  for (const SubAxis& axis : subAxes) size *= axis.size;
  return size;
}

/// Rows of a matrix as the attribute that StableHLO has for groups and for pairs.
Attribute getRows(OpBuilder& builder, ArrayRef<int64_t> values, int64_t columns) {
  const int64_t rows = static_cast<int64_t>(values.size()) / columns;
  return DenseIntElementsAttr::get(RankedTensorType::get({rows, columns}, builder.getI64Type()), values);
}

/// A row for each group, in the order of the group.
Attribute getReplicaGroups(OpExport& e, AxisListAttr axes) {
  SubAxes subAxes = getSubAxes(e.module.getMesh(), axes);
  const uint64_t size = getSize(subAxes);
  SmallVector<int64_t> groups;
  for (int64_t rank = 0; rank < e.module.getNumRanks(); ++rank) {
    if (::sgd::comm::IndexOver(subAxes, rank) != 0) continue;
    for (uint64_t i = 0; i < size; ++i) groups.push_back(::sgd::comm::WithIndex(subAxes, rank, i));
  }
  return getRows(e.builder, groups, size);
}

/// Between devices of one replica: ids in groups are those of partitions.
Attribute takeChannel(OpExport& e) {
  return stablehlo::ChannelHandleAttr::get(e.builder.getContext(), e.module.takeChannel(), 1);
}

SmallVector<Value> toUnsigned(OpExport& e, ReduceKind kind) {
  SmallVector<Value> operands(e.operands);
  if (isUnsignedKind(kind))
    for (Value& operand : operands) operand = e.toUnsigned(operand);
  return operands;
}

SmallVector<Value> toSignless(OpExport& e, ValueRange values) {
  return llvm::map_to_vector(values, [&](Value value) { return e.toSignless(value); });
}

LogicalResult exportAllReduce(OpExport& e) {
  auto op = cast<spmd::AllReduceOp>(e.op);
  SmallVector<Value> operands = toUnsigned(e, op.getKind());
  // One op has one computation, so a bucket is an op for each type of elements.
  llvm::MapVector<Type, SmallVector<unsigned>> byElement;
  for (auto [index, operand] : llvm::enumerate(operands))
    byElement[cast<RankedTensorType>(operand.getType()).getElementType()].push_back(index);
  SmallVector<Value> results(operands.size());
  for (auto& [element, indices] : byElement) {
    SmallVector<Value> inputs = llvm::map_to_vector(indices, [&](unsigned index) { return operands[index]; });
    auto reduce = e.createWith<stablehlo::AllReduceOp>(TypeRange(ValueRange(inputs)), inputs,
                                                       {{"replica_groups", getReplicaGroups(e, op.getAxes())},
                                                        {"channel_handle", takeChannel(e)},
                                                        {"use_global_device_ids", e.builder.getUnitAttr()}});
    createCombinerRegion(e, reduce.getComputation(), op.getKind(), element);
    for (auto [index, result] : llvm::zip_equal(indices, reduce->getResults())) results[index] = result;
  }
  return e.finish(toSignless(e, results));
}

LogicalResult exportReduceScatter(OpExport& e) {
  auto op = cast<spmd::ReduceScatterOp>(e.op);
  SmallVector<Value> results;
  for (auto [index, operand] : llvm::enumerate(toUnsigned(e, op.getKind()))) {
    Type element = cast<RankedTensorType>(operand.getType()).getElementType();
    auto scatter = e.createWith<stablehlo::ReduceScatterOp>(e.getResultType(index).clone(element), operand,
                                                            {{"scatter_dimension", e.getI64(op.getDims()[index])},
                                                             {"replica_groups", getReplicaGroups(e, op.getAxes())},
                                                             {"channel_handle", takeChannel(e)},
                                                             {"use_global_device_ids", e.builder.getUnitAttr()}});
    createCombinerRegion(e, scatter.getComputation(), op.getKind(), element);
    results.push_back(scatter->getResult(0));
  }
  return e.finish(toSignless(e, results));
}

LogicalResult exportAllGather(OpExport& e) {
  auto op = cast<spmd::AllGatherOp>(e.op);
  SmallVector<Value> results;
  for (auto [index, operand] : llvm::enumerate(e.operands))
    results.push_back(e.createWith<stablehlo::AllGatherOp>(e.getResultType(index), operand,
                                                           {{"all_gather_dim", e.getI64(op.getDims()[index])},
                                                            {"replica_groups", getReplicaGroups(e, op.getAxes())},
                                                            {"channel_handle", takeChannel(e)},
                                                            {"use_global_device_ids", e.builder.getUnitAttr()}})
                          ->getResult(0));
  return e.finish(results);
}

LogicalResult exportAllToAll(OpExport& e) {
  auto op = cast<spmd::AllToAllOp>(e.op);
  const uint64_t size = getSize(getSubAxes(e.module.getMesh(), op.getAxes()));
  return e.finish(e.createWith<stablehlo::AllToAllOp>(e.getResultType(), e.operands,
                                                      {{"split_dimension", op.getSplitAttr()},
                                                       {"concat_dimension", op.getConcatAttr()},
                                                       {"split_count", e.getI64(size)},
                                                       {"replica_groups", getReplicaGroups(e, op.getAxes())},
                                                       {"channel_handle", takeChannel(e)}})
                      ->getResults());
}

/// Partitions that receive nothing have zeros.
Value createPermute(OpExport& e, Value value, ArrayRef<int64_t> pairs) {
  return e
      .createWith<stablehlo::CollectivePermuteOp>(
          value.getType(), value,
          {{"source_target_pairs", getRows(e.builder, pairs, 2)}, {"channel_handle", takeChannel(e)}})
      ->getResult(0);
}

LogicalResult exportCollectivePermute(OpExport& e) {
  auto op = cast<spmd::CollectivePermuteOp>(e.op);
  MeshAttr mesh = e.module.getMesh();
  SubAxes from = getSubAxes(mesh, op.getFrom()), to = getSubAxes(mesh, op.getTo());
  SmallVector<int64_t> pairs;
  for (int64_t rank = 0; rank < e.module.getNumRanks(); ++rank)
    pairs.append({rank, static_cast<int64_t>(::sgd::comm::WithIndex(to, rank, ::sgd::comm::IndexOver(from, rank)))});
  return e.finish(createPermute(e, e.operands[0], pairs));
}

/// The value of the first partition of each group.
Value createBroadcast(OpExport& e, Value value, Attribute groups) {
  return e
      .createWith<stablehlo::CollectiveBroadcastOp>(value.getType(), value,
                                                    {{"replica_groups", groups}, {"channel_handle", takeChannel(e)}})
      ->getResult(0);
}

LogicalResult exportBroadcastOfRank(OpExport& e) {
  auto op = cast<spmd::BroadcastOp>(e.op);
  return e.finish(createBroadcast(e, e.operands[0], getReplicaGroups(e, op.getAxes())));
}

/// The partition's linear index over `axes`, i32.
Value createIndex(OpExport& e, AxisListAttr axes) {
  RankedTensorType type = RankedTensorType::get({}, e.builder.getI32Type());
  if (e.module.getNumRanks() == 1 || axes.getAxes().empty()) return e.splat(type, 0);
  Value rank = e.convert(e.createNamed("stablehlo.partition_id", withUnsigned(type), {}), type);
  auto apply = [&](StringRef name, Value value, uint64_t number) {
    return e.createNamed(name, type, {value, e.splat(type, number)});
  };
  Value index;
  for (const SubAxis& axis : getSubAxes(e.module.getMesh(), axes)) {
    Value coordinate = axis.stride == 1 ? rank : apply("stablehlo.divide", rank, axis.stride);
    if (axis.stride * axis.size < static_cast<uint64_t>(e.module.getNumRanks()))
      coordinate = apply("stablehlo.remainder", coordinate, axis.size);
    index = index ? e.createNamed("stablehlo.add", type, {apply("stablehlo.multiply", index, axis.size), coordinate})
                  : coordinate;
  }
  return index;
}

LogicalResult exportPartitionId(OpExport& e) {
  return e.finish(createIndex(e, cast<spmd::PartitionIdOp>(e.op).getAxes()));
}

LogicalResult exportShardSlice(OpExport& e) {
  auto op = cast<spmd::ShardSliceOp>(e.op);
  RankedTensorType type = e.getResultType(), scalar = RankedTensorType::get({}, e.builder.getI32Type());
  Value zero = e.splat(scalar, 0);
  SmallVector<Value> operands(type.getRank() + 1, zero);
  operands[0] = e.operands[0];
  operands[op.getDim() + 1] = e.createNamed(
      "stablehlo.multiply", scalar, {createIndex(e, op.getAxes()), e.splat(scalar, type.getDimSize(op.getDim()))});
  return e.finish(e.createWith<stablehlo::DynamicSliceOp>(type, operands, {{"slice_sizes", e.getI64s(type.getShape())}})
                      ->getResults());
}

/// Elements of a tile, and where they are in a result.
struct Piece {
  int64_t position = 0, length = 0, start = 0;
  auto operator<=>(const Piece&) const = default;
};

/// Pieces of which the results of a gathered range consist, each with the ranks [sender, receiver, ...] that it goes
/// between.
std::map<Piece, SmallVector<int64_t>> findPieces(const ::sgd::comm::TileRange& range, ArrayRef<SubAxis> tiles,
                                                 ArrayRef<SubAxis> results, int64_t numRanks) {
  std::map<Piece, SmallVector<int64_t>> pieces;
  for (int64_t rank = 0; rank < numRanks; ++rank) {
    const int64_t start = range.Start(::sgd::comm::IndexOver(results, rank));
    ::sgd::comm::ForEachTile(range, start, [&](uint64_t tile, const ::sgd::comm::ResultSpan& span) {
      Piece piece{static_cast<int64_t>(span.begin), static_cast<int64_t>(span.size()),
                  start + static_cast<int64_t>(span.begin * range.step) - static_cast<int64_t>(tile * range.tile)};
      pieces[piece].append({static_cast<int64_t>(::sgd::comm::WithIndex(tiles, rank, tile)), rank});
    });
  }
  return pieces;
}

/// Whether each rank sends at most once, as a collective_permute asks.
bool isPermute(ArrayRef<int64_t> pairs) {
  DenseSet<int64_t> senders;
  for (size_t i = 0; i < pairs.size(); i += 2)
    if (!senders.insert(pairs[i]).second) return false;
  return true;
}

/// The groups of a broadcast, rows of a sender and then the other ranks that receive from it, if all ranks receive,
/// senders their own elements, and rows are of one length; else nothing.
SmallVector<int64_t> findBroadcastGroups(ArrayRef<int64_t> pairs, int64_t numRanks) {
  std::map<int64_t, SmallVector<int64_t>> receivers;
  for (size_t i = 0; i < pairs.size(); i += 2) receivers[pairs[i]].push_back(pairs[i + 1]);
  SmallVector<int64_t> groups;
  for (const auto& [sender, ranks] : receivers) {
    if (!llvm::is_contained(ranks, sender) || ranks.size() != receivers.begin()->second.size()) return {};
    groups.push_back(sender);
    llvm::copy_if(ranks, std::back_inserter(groups), [sender = sender](int64_t rank) { return rank != sender; });
  }
  return static_cast<int64_t>(groups.size()) == numRanks ? groups : SmallVector<int64_t>();
}

bool isMovable(ArrayRef<int64_t> pairs, int64_t numRanks) {
  return isPermute(pairs) || !findBroadcastGroups(pairs, numRanks).empty();
}

/// `part` at the ranks that receive it; `pairs` are movable.
Value movePart(OpExport& e, Value part, ArrayRef<int64_t> pairs) {
  const int64_t numRanks = e.module.getNumRanks();
  bool isOwn = static_cast<int64_t>(pairs.size()) == 2 * numRanks;
  for (size_t i = 0; i < pairs.size(); i += 2) isOwn &= pairs[i] == pairs[i + 1];
  if (isOwn) return part;
  if (isPermute(pairs)) return createPermute(e, part, pairs);
  std::set<int64_t> senders;
  for (size_t i = 0; i < pairs.size(); i += 2) senders.insert(pairs[i]);
  return createBroadcast(
      e, part,
      getRows(e.builder, findBroadcastGroups(pairs, numRanks), numRanks / static_cast<int64_t>(senders.size())));
}

/// One operand's range as slices of tiles, moved and joined; null where that cannot be.
Value exportRange(OpExport& e, unsigned index, RangeAttr attribute, ArrayRef<SubAxis> tiles,
                  ArrayRef<SubAxis> results) {
  RankedTensorType from = e.getOperandType(index), to = e.getResultType(index);
  const int64_t dim = attribute.getDim();
  auto range = spmd::getTileRange(attribute, from.getDimSize(dim), to.getDimSize(dim));
  auto pieces = findPieces(range, tiles, results, e.module.getNumRanks());
  int64_t filled = 0;
  for (const auto& [piece, pairs] : pieces) {
    if (piece.position < filled || !isMovable(pairs, e.module.getNumRanks())) return {};
    filled = piece.position + piece.length;
  }
  SmallVector<Value> parts;
  auto sized = [](RankedTensorType type, int64_t dim, int64_t size) {
    SmallVector<int64_t> shape(type.getShape());
    shape[dim] = size;
    return type.clone(shape);
  };
  auto fillTo = [&](int64_t end, int64_t begin) {
    if (begin < end) parts.push_back(e.splat(sized(to, dim, end - begin), 0));
  };
  filled = 0;
  for (const auto& [piece, pairs] : pieces) {
    fillTo(piece.position, filled);
    filled = piece.position + piece.length;
    SmallVector<int64_t> starts(from.getRank(), 0), limits(from.getShape()), strides(from.getRank(), 1);
    starts[dim] = piece.start;
    strides[dim] = range.step;
    limits[dim] = piece.start + (piece.length - 1) * static_cast<int64_t>(range.step) + 1;
    RankedTensorType type = sized(from, dim, piece.length);
    Value part = e.operands[index];
    if (type != from)
      part = e.createWith<stablehlo::SliceOp>(type, part,
                                              {{"start_indices", e.getI64s(starts)},
                                               {"limit_indices", e.getI64s(limits)},
                                               {"strides", e.getI64s(strides)}})
                 ->getResult(0);
    parts.push_back(movePart(e, part, pairs));
  }
  fillTo(to.getDimSize(dim), filled);
  if (parts.empty()) return e.splat(to, 0);  // of no elements
  if (parts.size() == 1) return parts[0];
  return e.createWith<stablehlo::ConcatenateOp>(to, parts, {{"dimension", e.getI64(dim)}})->getResult(0);
}

/// Halos and shifts are permutes of slices, and ranges that ranks have alike are broadcast; others have no counterpart.
LogicalResult exportGatherRange(OpExport& e) {
  auto op = cast<spmd::GatherRangeOp>(e.op);
  MeshAttr mesh = e.module.getMesh();
  SubAxes tiles = getSubAxes(mesh, op.getAxes()), results = getSubAxes(mesh, op.getTo());
  SmallVector<Value> gathered;
  for (auto [index, range] : llvm::enumerate(op.getRanges().getAsRange<RangeAttr>())) {
    gathered.push_back(exportRange(e, index, range, tiles, results));
    if (!gathered.back()) return exportAsCall(e);
  }
  return e.finish(gathered);
}

}  // namespace

void mlir::sgd::addCollectiveExports(ExportTable& table) {
  const std::pair<StringRef, ExportFn> entries[] = {
      {"spmd.all_reduce", exportAllReduce},
      {"spmd.reduce_scatter", exportReduceScatter},
      {"spmd.all_gather", exportAllGather},
      {"spmd.all_to_all", exportAllToAll},
      {"spmd.collective_permute", exportCollectivePermute},
      {"spmd.broadcast", exportBroadcastOfRank},
      {"spmd.gather_range", exportGatherRange},
      {"spmd.partition_id", exportPartitionId},
      {"spmd.shard_slice", exportShardSlice},
  };
  for (auto [name, fn] : entries) table[name] = fn;
}
