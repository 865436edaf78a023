// Dimensions fall into groups with as many elements in the operand as in the result. A rank holds one run of each
// group, counted in row-major order; where that of the result is another one than that of the operand, it is fetched.
#include "passes/spmd/partition/local_rules.h"

#include <algorithm>

#include "passes/sharding/reshard/sharding_state.h"
#include "passes/spmd/partition/explain_movement.h"
#include "passes/spmd/partition/range_emitter.h"

using namespace mlir;
using namespace mlir::sgd;

namespace {
/// Neighbouring dimensions of one side of a group.
struct Side {
  ArrayRef<int64_t> global, local;
  ArrayRef<AxisParts> axes;

  static int64_t product(ArrayRef<int64_t> sizes) {
    int64_t result = 1;
    for (int64_t size : sizes) result *= size;
    return result;
  }
  int64_t getTile() const { return product(local); }
  AxisParts getAxes() const {
    AxisParts all;
    for (const AxisParts& parts : axes) all.append(parts);
    return merged(all);
  }
  SmallVector<int64_t> getLeadingProducts() const;
  bool hasRuns(int64_t split) const;
};

/// Dimensions of the operand and those of the result that have the same elements.
struct Group {
  Side from, to;

  bool isExchanged() const { return from.getTile() != to.getTile(); }
  std::optional<int64_t> findSplit() const;
};

/// Sizes and axes of all dimensions of one side.
struct ReshapedTensor {
  ArrayRef<int64_t> global, local;
  SmallVector<AxisParts, 4> axes;

  Side slice(size_t begin, size_t end) const {
    return {global.slice(begin, end - begin), local.slice(begin, end - begin),
            ArrayRef<AxisParts>(axes).slice(begin, end - begin)};
  }
};

}  // namespace

/// Products of the leading dimensions of which a rank has one index.
SmallVector<int64_t> Side::getLeadingProducts() const {
  SmallVector<int64_t> products{1};
  for (auto [size, tile] : llvm::zip(global, local)) {
    if (tile != 1) break;
    products.push_back(products.back() * size);
  }
  return products;
}

/// True when the elements, cut into `split` equal pieces, are on the ranks in order: each piece on as many ranks, of
/// which each has the next run of getTile() elements.
bool Side::hasRuns(int64_t split) const {
  const auto* partial = llvm::find_if(local, [](int64_t tile) { return tile != 1; });
  for (size_t dim = partial - local.begin() + 1; dim < local.size(); ++dim)
    if (local[dim] != global[dim]) return false;
  int64_t shards = getGroupSize(getAxes()), elements = product(global), tile = getTile();
  if (shards % split != 0 || elements % split != 0) return false;
  int64_t shardsOfPiece = shards / split, piece = elements / split;
  for (int64_t shard = 0; shard < shards; ++shard) {
    int64_t begin = 0, count = 1, before = shards, index = shard;
    for (auto [size, part, parts] : llvm::zip(global, local, axes)) {
      before /= getGroupSize(parts);
      int64_t first = index / before * part;
      index %= before;
      begin = begin * size + first;
      count *= std::clamp<int64_t>(size - first, 0, part);
    }
    int64_t offset = shard % shardsOfPiece * tile;
    if (count != std::clamp<int64_t>(piece - offset, 0, tile)) return false;
    if (count != 0 && begin != shard / shardsOfPiece * piece + offset) return false;
  }
  return true;
}

/// Into how many pieces both sides can be cut so that the runs of each piece are in order.
std::optional<int64_t> Group::findSplit() const {
  if (from.getAxes() != to.getAxes()) return std::nullopt;
  for (const Side* side : {&from, &to})
    for (int64_t split : side->getLeadingProducts())
      if (from.hasRuns(split) && to.hasRuns(split)) return split;
  return std::nullopt;
}

static SmallVector<Group> getGroups(const ReshapedTensor& from, const ReshapedTensor& to) {
  SmallVector<Group> groups;
  size_t fromEnd = 0, toEnd = 0;
  while (fromEnd < from.global.size() || toEnd < to.global.size()) {
    size_t fromBegin = fromEnd, toBegin = toEnd;
    int64_t fromSize = 1, toSize = 1;
    do {
      bool takesFrom = toEnd == to.global.size() || (fromSize <= toSize && fromEnd < from.global.size());
      takesFrom ? fromSize *= from.global[fromEnd++] : toSize *= to.global[toEnd++];
    } while (fromSize != toSize);
    groups.push_back({from.slice(fromBegin, fromEnd), to.slice(toBegin, toEnd)});
  }
  return groups;
}

/// The parts behind the first `shards` shards of `parts`.
static AxisParts dropShards(ArrayRef<AxisPart> parts, int64_t shards) {
  AxisParts rest;
  for (AxisPart part : parts) {
    int64_t dropped = std::min(part.size, shards);
    shards /= dropped;
    appendMerged(rest, {part.axis, part.begin * dropped, part.size / dropped});
  }
  return rest;
}

/// The rank's run of the result as a range of those of all ranks with the same piece; `dim` counts groups.
static std::pair<AxisParts, WantedRange> getRange(const Group& group, int64_t split, int64_t dim) {
  AxisParts axes = dropShards(group.from.getAxes(), split);
  int64_t tile = group.to.getTile();
  return {
      axes,
      {.dim = dim, .size = Side::product(group.from.global) / split, .length = tile, .results = axes, .scale = tile}};
}

static FailureOr<Value> localizeReshape(ReshapeOp op, const LocalisedOp& localised, ReshardEmitter& emitter) {
  RankedTensorType globalFrom = localised.globalOperands[0], globalTo = localised.globalResults[0];
  auto localFrom = cast<RankedTensorType>(op.getInput().getType());
  RankedTensorType localTo = localised.localResults[0];
  auto getAxes = [&](RankedTensorType type) { return getShardState(emitter.getMesh(), getSharding(type)).dims; };
  ReshapedTensor from{globalFrom.getShape(), localFrom.getShape(), getAxes(globalFrom)};
  ReshapedTensor to{globalTo.getShape(), localTo.getShape(), getAxes(globalTo)};
  SmallVector<Group> groups;
  if (globalFrom.getNumElements() != 0) groups = getGroups(from, to);
  if (!llvm::all_of(groups, [](const Group& group) { return group.findSplit(); }))
    return op.emitOpError("cannot be computed shard by shard: a rank's elements are not in the same order ")
           << "in the operand and the result: " << globalFrom << " and " << globalTo << "; reshard it before";
  if (llvm::none_of(groups, [](const Group& group) { return group.isExchanged(); })) {
    op.getResult().setType(localTo);
    return Value();
  }
  OpBuilder builder(op);
  SmallVector<int64_t> runs = llvm::map_to_vector(groups, [](const Group& group) { return group.from.getTile(); });
  Value value = ReshapeOp::create(builder, op.getLoc(), localFrom.clone(runs), op.getInput());
  RangeEmitter range(emitter, builder, op.getLoc(), explainMovement(op));
  for (auto [dim, group] : llvm::enumerate(groups)) {
    if (!group.isExchanged()) continue;
    auto [tiles, wanted] = getRange(group, *group.findSplit(), dim);
    value = range.emit(value, tiles, wanted);
  }
  value = ReshapeOp::create(builder, op.getLoc(), localTo, value);
  op.getResult().replaceAllUsesWith(value);
  op.erase();
  return value;
}

void mlir::sgd::attachReshapeRules(MLIRContext& context) { attachLocalRule<ReshapeOp, localizeReshape>(context); }
