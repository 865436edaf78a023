// Blocks are made by a reshape, which moves nothing where a rank holds its positions already.
#include "passes/context/ring_layout.h"

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

LabelledValue RingLayout::toBlocks(TensorMath& math, const LabelledValue& whole) const {
  int64_t position = llvm::is_contained(whole.labels, row) ? row : column;
  if (!llvm::is_contained(whole.labels, position))
    return {order(math, whole, getLabels(whole.labels)), getLabels(whole.labels)};
  // Positions first stand where ranks will be.
  LabelledValue blocks{whole.value, getLabels(whole.labels)};
  SmallVector<int64_t> before = blocks.labels, split;
  llvm::erase(before, position);
  llvm::replace(before, kRanks, position);
  Value value = order(math, whole, before);
  int64_t at = llvm::find(before, position) - before.begin();
  value = math.resize(value, at, context.ranks * getBlockSize(position));
  SmallVector<int64_t> sizes(tensorType(value).getShape());
  sizes[at] = getBlockSize(position);
  sizes.insert(sizes.begin() + at, context.ranks);
  split = before;
  split.insert(split.begin() + at, kRanks);
  blocks.value = order(math, {math.reshape(value, sizes), split}, blocks.labels);
  return constrain(math, blocks);
}

Value RingLayout::fromBlocks(TensorMath& math, const LabelledValue& blocks, ArrayRef<int64_t> labels) const {
  int64_t position = llvm::is_contained(blocks.labels, row) ? row : column;
  LabelledValue constrained = constrain(math, blocks);
  SmallVector<int64_t> split = blocks.labels;
  llvm::erase(split, position);
  auto* at = llvm::find(split, kRanks);
  int64_t dim = at - split.begin();
  split.insert(at + 1, position);
  Value value = order(math, constrained, split);
  SmallVector<int64_t> sizes(tensorType(value).getShape());
  sizes[dim] *= sizes[dim + 1];
  sizes.erase(sizes.begin() + dim + 1);
  split.erase(split.begin() + dim);
  return order(math, {math.resize(math.reshape(value, sizes), dim, shape[position]), split}, labels);
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
