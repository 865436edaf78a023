// Dimensions fall into groups with as many elements in the operand as in the result. A rank holds one run of each
// group, counted in row-major order; where that of the result is another one than that of the operand, it is fetched.
#include "passes/partition/reshape_rules.h"

#include "passes/partition/range_emitter.h"
#include "passes/partition/sharding_state.h"

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
  /// Shards of the leading dimensions that have one element on each rank.
  int64_t getSplitShards() const {
    int64_t shards = 1;
    for (auto [size, parts] : llvm::zip(global, axes)) {
      if (size != 1 && getGroupSize(parts) != size) break;
      shards *= size;
    }
    return shards;
  }
};

/// Dimensions of the operand and those of the result that have the same elements.
struct Group {
  Side from, to;

  bool isExchanged() const { return from.getTile() != to.getTile(); }
};
/// Sizes and axes of all dimensions of one side.
struct Tensor {
  ArrayRef<int64_t> global, local;
  SmallVector<AxisParts, 4> axes;

  Side slice(size_t begin, size_t end) const {
    return {global.slice(begin, end - begin), local.slice(begin, end - begin),
            ArrayRef<AxisParts>(axes).slice(begin, end - begin)};
  }
};

}  // namespace

static SmallVector<Group> getGroups(const Tensor& from, const Tensor& to) {
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

/// What follows the first `shards` shards of `parts`.
static AxisParts dropShards(ArrayRef<AxisPart> parts, int64_t shards) {
  AxisParts rest;
  for (AxisPart part : parts) {
    int64_t dropped = std::min(part.size, shards);
    shards /= dropped;
    appendMerged(rest, {part.axis, part.begin * dropped, part.size / dropped});
  }
  return rest;
}

/// The rank's run of the result as a range of those of all ranks; `dim` counts groups.
static std::pair<AxisParts, WantedRange> getRange(const Group& group, int64_t dim) {
  AxisParts axes;
  for (const AxisParts& parts : group.from.axes) axes.append(parts);
  // Dimensions that are cut to single elements give each of their shards a group of its own.
  int64_t split = std::max(group.from.getSplitShards(), group.to.getSplitShards());
  axes = dropShards(axes, split);
  int64_t tile = group.to.getTile();
  return {
      axes,
      {.dim = dim, .size = Side::product(group.from.global) / split, .length = tile, .results = axes, .scale = tile}};
}

Value mlir::sgd::localizeReshape(ReshapeOp op, const LocalisedOp& localised, ReshardEmitter& emitter) {
  RankedTensorType globalFrom = localised.globalOperands[0], globalTo = localised.globalResults[0];
  auto localFrom = cast<RankedTensorType>(op.getInput().getType());
  RankedTensorType localTo = localised.localResults[0];
  auto getAxes = [&](RankedTensorType type) { return getShardState(emitter.getMesh(), getSharding(type)).dims; };
  Tensor from{globalFrom.getShape(), localFrom.getShape(), getAxes(globalFrom)};
  Tensor to{globalTo.getShape(), localTo.getShape(), getAxes(globalTo)};
  SmallVector<Group> groups;
  if (globalFrom.getNumElements() != 0) groups = getGroups(from, to);
  if (llvm::none_of(groups, [](const Group& group) { return group.isExchanged(); })) {
    op.getResult().setType(localTo);
    return Value();
  }
  OpBuilder builder(op);
  SmallVector<int64_t> runs = llvm::map_to_vector(groups, [](const Group& group) { return group.from.getTile(); });
  Value value = ReshapeOp::create(builder, op.getLoc(), localFrom.clone(runs), op.getInput());
  RangeEmitter range(emitter, builder, op.getLoc(), "tiles of sgd.reshape");
  for (auto [dim, group] : llvm::enumerate(groups)) {
    if (!group.isExchanged()) continue;
    auto [tiles, wanted] = getRange(group, dim);
    value = range.emit(value, tiles, wanted);
  }
  value = ReshapeOp::create(builder, op.getLoc(), localTo, value);
  op.getResult().replaceAllUsesWith(value);
  op.erase();
  return value;
}
