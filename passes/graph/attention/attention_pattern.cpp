// Puts scores and uses of a softmax together, and checks that they are of the same queries, keys and values.
#include "passes/graph/attention/attention_pattern.h"

#include "dialects/sgd/tensor_type.h"
#include "passes/graph/attention/causal_mask.h"
#include "passes/graph/attention/index_ranges.h"

using namespace mlir;
using namespace mlir::sgd;

static bool hasDim(const LabelledValue& value, int64_t dim) { return llvm::is_contained(value.labels, dim); }

/// The dimensions of a tensor are, besides its own one, just `wanted`.
static bool hasDims(ArrayRef<int64_t> labels, SmallVector<int64_t> wanted) {
  wanted.push_back(kOwnLabel);
  SmallVector<int64_t> sorted(labels);
  llvm::sort(sorted), llvm::sort(wanted);
  return sorted == wanted;
}

static bool isComputedIn(Value operand) {
  Type element = tensorType(operand).getElementType();
  return element.isF32() || element.isF16() || element.isBF16();
}

int64_t AttentionPattern::getDepth(const LabelledValue& operand) {
  for (auto [label, size] : llvm::zip(operand.labels, tensorType(operand.value).getShape()))
    if (label == kOwnLabel) return size;
  return 0;
}

SmallVector<int64_t> AttentionPattern::getDimsWithout(int64_t left) const {
  SmallVector<int64_t> dims;
  for (int64_t dim = 0; dim < static_cast<int64_t>(shape.size()); ++dim)
    if (dim != left) dims.push_back(dim);
  return dims;
}

SmallVector<int64_t> AttentionPattern::getKeyDims() const {
  SmallVector<int64_t> dims;
  for (int64_t dim : key.labels)
    if (dim != kOwnLabel) dims.push_back(dim);
  return dims;
}

std::optional<int64_t> AttentionPattern::getDiagonal() const {
  if (!scores.mask || scores.fill > kMaskedScore) return std::nullopt;
  std::optional<int64_t> diagonal =
      readDiagonal(scores.mask, scores.maskDims, row, scores.column, !scores.hidesWhereTrue);
  if (diagonal) return *diagonal >= 0 ? diagonal : std::nullopt;
  IndexBox box = getWholeBox(scores.mask);
  auto rowDim = static_cast<size_t>(llvm::find(scores.maskDims, row) - scores.maskDims.begin());
  auto columnDim = static_cast<size_t>(llvm::find(scores.maskDims, scores.column) - scores.maskDims.begin());
  auto isAll = [&](int64_t atRow, int64_t begin, int64_t end, bool visible) {
    if (begin >= end) return true;
    box[rowDim] = {atRow, 1};
    box[columnDim] = {begin, end - begin};
    return getTruth(scores.mask, box) == (visible != scores.hidesWhereTrue);
  };
  int64_t rows = shape[row], columns = shape[scores.column], visible = 0;
  while (visible < columns && isAll(0, visible, visible + 1, true)) ++visible;
  if (visible == 0) return std::nullopt;
  for (int64_t at = 0; at < rows; ++at) {
    int64_t end = std::min(columns, visible + at);
    if (!isAll(at, 0, end, true) || !isAll(at, end, columns, false)) return std::nullopt;
  }
  return visible - 1;
}

namespace {
class Matcher {
 public:
  explicit Matcher(AttentionPattern& pattern)
      : pattern(pattern), scores(pattern.scores), uses(pattern.uses), shape(pattern.shape) {}

  bool run() { return findOperands() && chooseRow() && checkOperands() && checkGradients(); }

 private:
  /// Query and key, by their labels the scores' dimensions; the value from where the program reads it.
  bool findOperands() {
    llvm::SmallDenseMap<int64_t, int64_t, 8> dims;
    for (auto [label, dim] : llvm::zip(scores.matmul.getResultLabels(), scores.matmulDims)) dims[label] = dim;
    auto strip = [&](Value operand, ArrayRef<int64_t> labels) {
      SmallVector<int64_t> names;
      for (int64_t label : labels) names.push_back(dims.contains(label) ? dims[label] : kOwnLabel);
      return stripLayout(operand, names);
    };
    LabelledValue &query = pattern.query, &key = pattern.key;
    query = strip(scores.matmul.getLhs(), scores.matmul.getLhsLabels());
    key = strip(scores.matmul.getRhs(), scores.matmul.getRhsLabels());
    if (hasDim(query, scores.column)) std::swap(query, key);
    if (!uses.out && !uses.weightGradient) return false;
    pattern.value = uses.out ? uses.out->other : uses.weightGradient->value;
    return hasDim(key, scores.column) && !hasDim(query, scores.column) && hasDim(pattern.value, scores.column);
  }

  /// The largest dimension that queries have and keys and values have not.
  bool chooseRow() {
    for (auto [dim, size] : llvm::enumerate(shape)) {
      auto candidate = static_cast<int64_t>(dim);
      bool isRow = candidate != scores.column && hasDim(pattern.query, candidate) && !hasDim(pattern.key, candidate) &&
                   !hasDim(pattern.value, candidate);
      if (isRow && (pattern.row < 0 || size >= shape[pattern.row])) pattern.row = candidate;
    }
    return pattern.row >= 0;
  }

  bool checkOperands() {
    if (llvm::is_contained(shape, 0)) return false;
    const LabelledValue &query = pattern.query, &key = pattern.key, &value = pattern.value;
    if (!isComputedIn(query.value) || !isComputedIn(key.value) || !isComputedIn(value.value)) return false;
    if (scores.bias && !isComputedIn(scores.bias)) return false;
    SmallVector<int64_t> rowDims = pattern.getDimsWithout(scores.column);
    if (!hasDims(query.labels, rowDims) || llvm::count(key.labels, kOwnLabel) != 1) return false;
    if (!hasDims(value.labels, pattern.getKeyDims())) return false;
    return !uses.out || (hasDims(uses.out->resultLabels, rowDims) && isComputedIn(uses.out->op.getResult()));
  }

  /// The backward pass reads what the forward pass reads, and gives gradients of the same dimensions.
  bool checkGradients() {
    if (!uses.queryGradient && !uses.keyGradient && !uses.valueGradient) return uses.out.has_value();
    if (!pattern.hasGradients()) return false;
    const WeightGradient& gradient = *uses.weightGradient;
    SmallVector<int64_t> rowDims = pattern.getDimsWithout(scores.column), keyDims = pattern.getKeyDims();
    if (!(gradient.value == pattern.value) || !hasDims(gradient.outGradient.labels, rowDims)) return false;
    if (!isComputedIn(gradient.outGradient.value)) return false;
    auto fits = [&](const std::optional<SoftmaxMatmul>& matmul, const LabelledValue& other,
                    const SmallVector<int64_t>& dims) {
      return !matmul ||
             (matmul->other == other && hasDims(matmul->resultLabels, dims) && isComputedIn(matmul->op.getResult()));
    };
    return fits(uses.queryGradient, pattern.key, rowDims) && fits(uses.keyGradient, pattern.query, keyDims) &&
           fits(uses.valueGradient, gradient.outGradient, keyDims);
  }

  AttentionPattern& pattern;
  const AttentionScores& scores;
  const SoftmaxUses& uses;
  ArrayRef<int64_t> shape;
};
}  // namespace

std::optional<AttentionPattern> mlir::sgd::matchAttention(math::ExpOp exponential) {
  std::optional<AttentionScores> scores = matchAttentionScores(exponential);
  if (!scores) return std::nullopt;
  std::optional<SoftmaxUses> uses = findSoftmaxUses(*scores);
  if (!uses) return std::nullopt;
  AttentionPattern pattern{*scores, *uses, llvm::to_vector(tensorType(exponential.getResult()).getShape()), -1, {},
                           {},      {}};
  return Matcher(pattern).run() ? std::optional(std::move(pattern)) : std::nullopt;
}
