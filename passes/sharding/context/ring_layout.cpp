// Blocks are made by a reshape, which moves nothing where a rank holds its positions already.
#include "passes/sharding/context/ring_layout.h"

using namespace mlir;
using namespace mlir::sgd;

RingLayout::RingLayout(const AttentionPattern& pattern, ContextAxes context)
    : shape(pattern.shape),
      keyDims(pattern.getKeyDims()),
      row(pattern.row),
      column(pattern.getColumn()),
      context(std::move(context)) {}

int64_t RingLayout::getOrder(int64_t label) const {
  int64_t rank = shape.size();
  if (label == kOwnLabel) return 4 * rank;
  if (label == column) return 3 * rank + 1;
  if (label == row) return 3 * rank;
  if (label == kRanks) return rank;
  return llvm::is_contained(keyDims, label) ? label : 2 * rank + label;
}

SmallVector<int64_t> RingLayout::getLabels(ArrayRef<int64_t> dims) const {
  SmallVector<int64_t> labels(dims);
  if (llvm::is_contained(dims, row) || llvm::is_contained(dims, column)) labels.push_back(kRanks);
  llvm::sort(labels, [&](int64_t a, int64_t b) { return getOrder(a) < getOrder(b); });
  return labels;
}

SmallVector<int64_t> RingLayout::getScoreLabels() const {
  return getLabels(llvm::to_vector(llvm::seq<int64_t>(0, shape.size())));
}

SmallVector<int64_t> RingLayout::getRowLabels() const {
  SmallVector<int64_t> labels = getScoreLabels();
  llvm::erase(labels, column);
  return labels;
}

SmallVector<int64_t> RingLayout::getQueryLabels() const {
  SmallVector<int64_t> labels = getRowLabels();
  labels.push_back(kOwnLabel);
  return labels;
}

SmallVector<int64_t> RingLayout::getKeyLabels() const {
  SmallVector<int64_t> dims = keyDims;
  dims.push_back(kOwnLabel);
  return getLabels(dims);
}

SmallVector<int64_t> RingLayout::getShape(ArrayRef<int64_t> labels, int64_t depth) const {
  SmallVector<int64_t> sizes;
  for (int64_t label : labels) {
    bool isPosition = label == row || label == column;
    sizes.push_back(label == kOwnLabel ? depth
                    : label == kRanks  ? context.ranks
                    : isPosition       ? getBlockSize(label)
                                       : shape[label]);
  }
  return sizes;
}

/// The value with its dimensions in the order of `labels`.
static Value order(TensorMath& math, const LabelledValue& from, ArrayRef<int64_t> labels) {
  if (ArrayRef<int64_t>(from.labels) == labels) return from.value;
  SmallVector<int64_t> permutation;
  for (int64_t label : labels) permutation.push_back(llvm::find(from.labels, label) - from.labels.begin());
  return math.transpose(from.value, permutation);
}

/// Labels with positions, which stand for both, split as they are in memory: into ranks and what a rank has one after
/// the other, or into what each rank has and ranks.
static SmallVector<int64_t> split(ArrayRef<int64_t> labels, int64_t position, bool isStriped) {
  SmallVector<int64_t> parts(labels);
  auto* at = llvm::find(parts, position);
  parts.insert(isStriped ? at + 1 : at, kRanks);
  return parts;
}

LabelledValue RingLayout::toBlocks(TensorMath& math, const LabelledValue& whole) const {
  int64_t position = llvm::is_contained(whole.labels, row) ? row : column;
  SmallVector<int64_t> labels = getLabels(whole.labels), before = labels;
  if (!llvm::is_contained(whole.labels, position)) return {order(math, whole, labels), labels};
  // Positions first stand where ranks will be.
  llvm::erase(before, position);
  llvm::replace(before, kRanks, position);
  int64_t at = llvm::find(before, position) - before.begin();
  Value value = math.resize(order(math, whole, before), at, context.ranks * getBlockSize(position));
  SmallVector<int64_t> sizes(tensorType(value).getShape()), parts = split(before, position, context.isStriped);
  sizes[at] = context.isStriped ? getBlockSize(position) : context.ranks;
  sizes.insert(sizes.begin() + at + 1, context.isStriped ? context.ranks : getBlockSize(position));
  return constrain(math, {order(math, {math.reshape(value, sizes), parts}, labels), labels});
}

Value RingLayout::fromBlocks(TensorMath& math, const LabelledValue& blocks, ArrayRef<int64_t> labels) const {
  int64_t position = llvm::is_contained(blocks.labels, row) ? row : column;
  SmallVector<int64_t> after = blocks.labels;
  llvm::erase(after, position);
  llvm::replace(after, kRanks, position);
  int64_t at = llvm::find(after, position) - after.begin();
  Value value = order(math, constrain(math, blocks), split(after, position, context.isStriped));
  SmallVector<int64_t> sizes(tensorType(value).getShape());
  sizes[at] *= sizes[at + 1];
  sizes.erase(sizes.begin() + at + 1);
  return order(math, {math.resize(math.reshape(value, sizes), at, shape[position]), after}, labels);
}

LabelledValue RingLayout::constrain(TensorMath& math, const LabelledValue& blocks) const {
  MLIRContext* ctx = math.getBuilder().getContext();
  SmallVector<DimShardingAttr> dims;
  for (int64_t label : blocks.labels) {
    bool isRanks = label == kRanks, isPosition = label == row || label == column;
    dims.push_back(DimShardingAttr::get(ctx, isRanks ? ArrayRef<AxisRefAttr>(context.axes) : ArrayRef<AxisRefAttr>(),
                                        /*isOpen=*/!isRanks && !isPosition, std::nullopt));
  }
  auto sharding = ShardingAttr::get(ctx, context.mesh, dims, {}, {}, ReduceKind::Add);
  Value value = ShardingConstraintOp::create(math.getBuilder(), math.getLoc(), blocks.value, sharding);
  return {value, blocks.labels};
}
