// One op each, or a few.
#include "passes/sharding/context/block_math.h"

using namespace mlir;
using namespace mlir::sgd;

LabelledValue BlockMath::dot(const LabelledValue& lhs, const LabelledValue& rhs, ArrayRef<int64_t> labels, bool tf32) {
  Type left = tensorType(lhs.value).getElementType(), right = tensorType(rhs.value).getElementType();
  Type common = left;
  // Of bf16 and f16 neither holds the other.
  if (left != right) common = math.getBuilder().getF32Type();
  Value a = math.convert(lhs.value, common), b = math.convert(rhs.value, common);
  SmallVector<int64_t> batching[2], contracting[2], leftFree, rightFree, sizes;
  SmallVector<int64_t> batch;
  for (auto [dim, label] : llvm::enumerate(lhs.labels)) {
    const auto* other = llvm::find(rhs.labels, label);
    bool isShared = other != rhs.labels.end(), isKept = llvm::is_contained(labels, label);
    auto& lists = isKept ? batching : contracting;
    if (isShared) lists[0].push_back(dim), lists[1].push_back(other - rhs.labels.begin());
    if (isShared && isKept) batch.push_back(label);
    if (!isShared) leftFree.push_back(label);
  }
  for (int64_t label : rhs.labels)
    if (!llvm::is_contained(lhs.labels, label)) rightFree.push_back(label);
  SmallVector<int64_t> result = batch;
  llvm::append_range(result, leftFree);
  llvm::append_range(result, rightFree);
  for (int64_t label : result) {
    const LabelledValue& from = llvm::is_contained(leftFree, label) || llvm::is_contained(batch, label) ? lhs : rhs;
    sizes.push_back(tensorType(from.value).getDimSize(llvm::find(from.labels, label) - from.labels.begin()));
  }
  assert(ArrayRef<int64_t>(result) == labels && "labels have one order");
  auto type = RankedTensorType::get(sizes, math.getBuilder().getF32Type());
  Value value = DotGeneralOp::create(math.getBuilder(), math.getLoc(), type, a, b, batching[0], batching[1],
                                     contracting[0], contracting[1], tf32);
  return {value, result};
}

LabelledValue BlockMath::spread(const LabelledValue& value, ArrayRef<int64_t> labels) {
  if (ArrayRef<int64_t>(value.labels) == labels) return value;
  SmallVector<int64_t> dims, sizes = layout.getShape(labels);
  for (auto [label, size] : llvm::zip(value.labels, tensorType(value.value).getShape())) {
    dims.push_back(llvm::find(labels, label) - labels.begin());
    sizes[dims.back()] = size;
  }
  return {math.broadcast(value.value, dims, sizes), SmallVector<int64_t>(labels)};
}

LabelledValue BlockMath::reduce(const LabelledValue& value, ReduceKind kind, int64_t label) {
  SmallVector<int64_t> labels = value.labels;
  int64_t dim = llvm::find(labels, label) - labels.begin();
  labels.erase(labels.begin() + dim);
  return {math.reduce(value.value, kind, dim), labels};
}

/// The right side like the left one: along a depth, too, which the layout does not know.
static Value alike(TensorMath& math, const LabelledValue& a, const LabelledValue& b) {
  if (a.labels == b.labels) return b.value;
  SmallVector<int64_t> dims;
  for (int64_t label : b.labels) dims.push_back(llvm::find(a.labels, label) - a.labels.begin());
  return math.broadcast(b.value, dims, tensorType(a.value).getShape());
}

LabelledValue BlockMath::add(const LabelledValue& a, const LabelledValue& b) {
  return {math.add(a.value, alike(math, a, b)), a.labels};
}
LabelledValue BlockMath::subtract(const LabelledValue& a, const LabelledValue& b) {
  return {math.subtract(a.value, alike(math, a, b)), a.labels};
}
LabelledValue BlockMath::multiply(const LabelledValue& a, const LabelledValue& b) {
  return {math.multiply(a.value, alike(math, a, b)), a.labels};
}
LabelledValue BlockMath::divide(const LabelledValue& a, const LabelledValue& b) {
  return {math.divide(a.value, alike(math, a, b)), a.labels};
}
LabelledValue BlockMath::maximum(const LabelledValue& a, const LabelledValue& b) {
  return {math.maximum(a.value, alike(math, a, b)), a.labels};
}
LabelledValue BlockMath::scale(const LabelledValue& a, double factor) {
  return factor == 1 ? a : LabelledValue{math.multiply(a.value, math.splat(factor, a.value)), a.labels};
}
LabelledValue BlockMath::exponential(const LabelledValue& a) { return {math.exponential(a.value), a.labels}; }
LabelledValue BlockMath::select(const LabelledValue& condition, const LabelledValue& yes, const LabelledValue& no) {
  return {math.select(alike(math, yes, condition), yes.value, no.value), yes.labels};
}
LabelledValue BlockMath::convert(const LabelledValue& value, Type element) {
  return {math.convert(value.value, element), value.labels};
}

LabelledValue BlockMath::splat(double value, ArrayRef<int64_t> labels) {
  auto type = RankedTensorType::get(layout.getShape(labels), math.getBuilder().getF32Type());
  return {math.splat(type, value), SmallVector<int64_t>(labels)};
}

LabelledValue BlockMath::integer(int64_t value, ArrayRef<int64_t> labels) {
  auto type = RankedTensorType::get(layout.getShape(labels), math.getBuilder().getI32Type());
  return {math.splat(type, value), SmallVector<int64_t>(labels)};
}

LabelledValue BlockMath::getRankNumbers() {
  return layout.constrain(math, {math.iota({layout.getRanks()}, 0), {kRanks}});
}

LabelledValue BlockMath::getPrevious(const LabelledValue& numbers) {
  Value isFirst = math.isEqual(numbers.value, integer(0, kRanks).value);
  Value less = math.subtract(numbers.value, integer(1, kRanks).value);
  return {math.select(isFirst, integer(layout.getRanks() - 1, kRanks).value, less), numbers.labels};
}

LabelledValue BlockMath::getPositions(const LabelledValue& numbers, int64_t dim, ArrayRef<int64_t> labels) {
  // Counts in the shape of the result: rows and columns of blocks that are as long must not come from one iota.
  Value counts = math.iota(layout.getShape(labels), llvm::find(labels, dim) - labels.begin()), first = numbers.value;
  if (layout.isStriped())
    counts = math.multiply(counts, integer(layout.getRanks(), labels).value);
  else
    first = math.multiply(first, integer(layout.getBlockSize(dim), kRanks).value);
  return {math.add(spread({first, numbers.labels}, labels).value, counts), SmallVector<int64_t>(labels)};
}

LabelledValue BlockMath::isOnOrBelowDiagonal(ArrayRef<int64_t> labels) {
  auto count = [&](int64_t dim) {
    return math.iota(layout.getShape(labels), llvm::find(labels, dim) - labels.begin());
  };
  Value rows = count(layout.getRow()), columns = count(layout.getColumn());
  return {math.isAtLeast(rows, columns), SmallVector<int64_t>(labels)};
}

LabelledValue BlockMath::negate(const LabelledValue& condition) {
  return {math.negate(condition.value), condition.labels};
}

LabelledValue BlockMath::both(const LabelledValue& a, const LabelledValue& b) {
  return {math.both(a.value, b.value), a.labels};
}

LabelledValue BlockMath::isReal(const LabelledValue& numbers, int64_t dim, ArrayRef<int64_t> labels) {
  LabelledValue positions = getPositions(numbers, dim, labels);
  return {math.isLess(positions.value, integer(layout.getPositions(dim), labels).value), positions.labels};
}

LabelledValue BlockMath::shift(const LabelledValue& value, int64_t ranks) {
  RankedTensorType type = tensorType(value.value);
  int64_t dim = llvm::find(value.labels, kRanks) - value.labels.begin(), last = type.getDimSize(dim) - ranks;
  SmallVector<int64_t> begins(type.getRank(), 0), ends(type.getShape()), middle(ends), from(begins);
  from[dim] = middle[dim] = last;
  Value moved = math.concatenate({math.slice(value.value, from, ends), math.slice(value.value, begins, middle)}, dim);
  return layout.constrain(math, {moved, value.labels});
}
