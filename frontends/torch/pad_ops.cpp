// Margins: constants, reflections, copies of the edges, or of the other end.
#include "frontends/torch/aten_op.h"

using namespace mlir;
using namespace mlir::sgd;
using namespace mlir::sgd::torch;

namespace {

enum class PadMode { Reflect, Replicate, Circular };

/// Margins per dimension, from the last one on, low and high.
SmallVector<std::pair<int64_t, int64_t>> getMargins(AtenOp& op, int64_t rank) {
  SmallVector<int64_t> flat = op.integers(op.has("pad") ? "pad" : "padding");
  SmallVector<std::pair<int64_t, int64_t>> margins(rank, {0, 0});
  for (size_t pair = 0; pair * 2 + 1 < flat.size() && static_cast<int64_t>(pair) < rank; ++pair)
    margins[rank - 1 - static_cast<int64_t>(pair)] = {flat[2 * pair], flat[2 * pair + 1]};
  return margins;
}

LogicalResult lowerConstantPad(AtenOp& op) {
  SmallVector<int64_t> low, high, none(op.type().getRank(), 0);
  for (auto [before, behind] : getMargins(op, op.type().getRank())) low.push_back(before), high.push_back(behind);
  Value fill = op.operand("value", RankedTensorType::get({}, op.element()));
  return op.finish(op.math.create<PadOp>(op.type(), op.tensor("self"), fill, low, high, none));
}

/// `count` elements of dimension `dim` to put in front of it, or behind it.
Value makeMargin(TensorMath& math, Value value, int64_t dim, int64_t count, bool isLow, PadMode mode) {
  int64_t size = shapeOf(value)[dim];
  if (mode == PadMode::Circular)
    return isLow ? takeSlice(math, value, dim, size - count, size) : takeSlice(math, value, dim, 0, count);
  if (mode == PadMode::Replicate) {
    Value edge = takeSlice(math, value, dim, isLow ? 0 : size - 1, isLow ? 1 : size);
    SmallVector<int64_t> shape(shapeOf(edge));
    shape[dim] = count;
    return stretch(math, edge, shape);
  }
  Value near =
      isLow ? takeSlice(math, value, dim, 1, count + 1) : takeSlice(math, value, dim, size - 1 - count, size - 1);
  return math.create<ReverseOp>(near.getType(), near, ArrayRef<int64_t>{dim});
}

/// Where a margin is negative, elements are removed: copies the edge of what was there before.
Value replicate(AtenOp& op, Value value, int64_t dim, int64_t low, int64_t high) {
  int64_t size = shapeOf(value)[dim];
  SmallVector<int64_t> indices;
  for (int64_t at = 0; at < size + low + high; ++at) indices.push_back(std::clamp<int64_t>(at - low, 0, size - 1));
  return takeAlong(op.math, value, op.vector(indices), dim);
}

template <PadMode mode>
LogicalResult lowerPadBy(AtenOp& op) {
  Value value = op.tensor("self");
  for (auto [dim, margin] : llvm::enumerate(getMargins(op, tensorType(value).getRank()))) {
    auto at = static_cast<int64_t>(dim);
    auto [low, high] = margin;
    if (mode == PadMode::Replicate && (low < 0 || high < 0) && shapeOf(value)[at] > 0 &&
        op.type().getDimSize(at) < (1 << 20)) {
      value = replicate(op, value, at, low, high);
      continue;
    }
    int64_t size = shapeOf(value)[at], cut = std::max<int64_t>(0, -low), end = size - std::max<int64_t>(0, -high);
    if (cut > end) return op.error() << "removes more elements than there are; expected a margin of at most " << size;
    value = takeSlice(op.math, value, at, cut, end);
    size = end - cut;
    low = std::max<int64_t>(low, 0), high = std::max<int64_t>(high, 0);
    int64_t most = mode == PadMode::Reflect ? size - 1 : mode == PadMode::Circular ? size : INT64_MAX;
    if ((low || high) && (size == 0 || low > most || high > most))
      return op.error() << "adds margins of " << low << " and " << high << " to " << size
                        << " elements, which have not as many to copy; expected smaller margins";
    SmallVector<Value> parts;
    if (low > 0) parts.push_back(makeMargin(op.math, value, at, low, /*isLow=*/true, mode));
    parts.push_back(value);
    if (high > 0) parts.push_back(makeMargin(op.math, value, at, high, /*isLow=*/false, mode));
    value = op.math.concatenate(parts, at);
  }
  return op.finish(value);
}

LogicalResult lowerPad(AtenOp& op) {
  StringRef mode = op.text("mode", "constant");
  if (mode == "constant") return lowerConstantPad(op);
  if (mode == "reflect") return lowerPadBy<PadMode::Reflect>(op);
  if (mode == "replicate") return lowerPadBy<PadMode::Replicate>(op);
  if (mode == "circular") return lowerPadBy<PadMode::Circular>(op);
  return op.error() << "pads by '" << mode << "'; expected 'constant', 'reflect', 'replicate' or 'circular'";
}

}  // namespace

void mlir::sgd::torch::addPadOps(OpTable& table) {
  enter(table, {"pad.default"}, lowerPad);
  enter(table, {"constant_pad_nd.default"}, lowerConstantPad);
  enter(table, {"reflection_pad1d.default", "reflection_pad2d.default", "reflection_pad3d.default"},
        {lowerPadBy<PadMode::Reflect>, {"self"}, 1});
  enter(table, {"replication_pad1d.default", "replication_pad2d.default", "replication_pad3d.default"},
        {lowerPadBy<PadMode::Replicate>, {"self"}, 1});
  enter(table, {"_pad_circular.default"}, {lowerPadBy<PadMode::Circular>, {"self"}, 1});
}
