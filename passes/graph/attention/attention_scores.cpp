// From an exponential up to the matmul that its scores come from.
#include "passes/graph/attention/attention_scores.h"

#include <cmath>

#include "dialects/sgd/tensor_type.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::sgd;

LabelledValue mlir::sgd::stripLayout(Value value, ArrayRef<int64_t> labels) {
  LabelledValue result{value, SmallVector<int64_t>(labels)};
  while (Operation* op = result.value.getDefiningOp()) {
    if (auto transpose = dyn_cast<TransposeOp>(op)) {
      SmallVector<int64_t> inner(result.labels.size());
      for (auto [to, from] : llvm::enumerate(transpose.getPermutation())) inner[from] = result.labels[to];
      result = {transpose.getInput(), inner};
    } else if (isa<arith::ExtFOp>(op)) {
      result.value = op->getOperand(0);
    } else {
      break;
    }
  }
  return result;
}

std::optional<ScoreDims> mlir::sgd::getReshapedDims(ArrayRef<int64_t> from, ArrayRef<int64_t> to,
                                                    ArrayRef<int64_t> dims) {
  ScoreDims result(to.size(), kNone);
  size_t next = 0;
  for (auto [size, dim] : llvm::zip(from, dims)) {
    if (size == 1) continue;
    while (next < to.size() && to[next] == 1) ++next;
    if (next == to.size() || to[next] != size) return std::nullopt;
    result[next++] = dim;
  }
  while (next < to.size() && to[next] == 1) ++next;
  return next == to.size() ? std::optional(result) : std::nullopt;
}

std::optional<ScoreDims> mlir::sgd::getOperandDims(Operation* op, const ScoreDims& dims) {
  if (auto transpose = dyn_cast<TransposeOp>(op)) {
    ScoreDims inner(dims.size(), kNone);
    for (auto [to, from] : llvm::enumerate(transpose.getPermutation())) inner[from] = dims[to];
    return inner;
  }
  if (auto broadcast = dyn_cast<BroadcastInDimOp>(op)) {
    ScoreDims inner;
    for (auto [size, to] : llvm::zip(shapeOf(broadcast.getInput()), broadcast.getDims()))
      inner.push_back(size == shapeOf(broadcast.getResult())[to] ? dims[to] : kNone);
    return inner;
  }
  if (auto reshape = dyn_cast<ReshapeOp>(op))
    return getReshapedDims(shapeOf(reshape.getResult()), shapeOf(reshape.getInput()), dims);
  return std::nullopt;
}

/// The reduction to largest elements that `value` broadcasts over the column.
static ReduceOp getRowMax(Value value, ScoreDims& dims) {
  while (Operation* op = value.getDefiningOp()) {
    if (auto reduce = dyn_cast<ReduceOp>(op)) return reduce.getKind() == ReduceKind::Max ? reduce : ReduceOp();
    // JAX writes the neutral element in front.
    if (auto larger = dyn_cast<arith::MaximumFOp>(op)) {
      auto isLowest = [](Value side) { return getSplat(side) == -INFINITY; };
      if (!isLowest(larger.getLhs()) && !isLowest(larger.getRhs())) return {};
      value = isLowest(larger.getLhs()) ? larger.getRhs() : larger.getLhs();
      continue;
    }
    std::optional<ScoreDims> inner = getOperandDims(op, dims);
    if (!inner) return {};
    dims = *inner;
    value = op->getOperand(0);
  }
  return {};
}

static ScoreDims allDims(Value value) { return llvm::to_vector<6>(llvm::seq<int64_t>(0, shapeOf(value).size())); }

/// The dimension over which `scores` less `rowMax` is relative to its largest element, or nothing.
static std::optional<int64_t> getColumn(Value scores, Value rowMax) {
  ScoreDims dims = allDims(scores);
  ReduceOp reduce = getRowMax(rowMax, dims);
  if (!reduce || reduce.getInput() != scores || reduce.getDimensions().size() != 1) return std::nullopt;
  int64_t column = reduce.getDimensions()[0];
  for (auto [index, dim] : llvm::enumerate(dims)) {
    int64_t own = static_cast<int64_t>(index) + (static_cast<int64_t>(index) >= column);
    if (dim != own && shapeOf(scores)[own] != 1) return std::nullopt;
  }
  return column;
}

namespace {

/// Walks up from scores to a matmul; the ops on the way become scale, bias and mask.
class ScoreWalk {
 public:
  explicit ScoreWalk(AttentionScores& scores) : scores(scores) {}

  bool run(Value value, ScoreDims dims) {
    Operation* op = value.getDefiningOp();
    if (!op) return false;
    if (LabelledMatmul matmul{op}) {
      scores.matmul = matmul;
      scores.matmulDims = dims;
      return true;
    }
    if (auto transpose = dyn_cast<TransposeOp>(op)) return run(transpose.getInput(), *getOperandDims(op, dims));
    if (isa<arith::ExtFOp, arith::TruncFOp>(op)) return run(op->getOperand(0), dims);
    if (isa<arith::MulFOp, arith::DivFOp>(op)) return passScale(op, dims);
    if (auto sum = dyn_cast<arith::AddFOp>(op))
      return passBias(sum.getLhs(), sum.getRhs(), dims) || passBias(sum.getRhs(), sum.getLhs(), dims);
    if (auto select = dyn_cast<arith::SelectOp>(op)) return passMask(select, dims);
    return false;
  }

 private:
  bool passScale(Operation* op, const ScoreDims& dims) {
    std::optional<double> right = getSplat(op->getOperand(1)), left = getSplat(op->getOperand(0));
    if (right && *right != 0) {
      scores.scale *= isa<arith::DivFOp>(op) ? 1 / *right : *right;
      return run(op->getOperand(0), dims);
    }
    if (!left || *left == 0 || isa<arith::DivFOp>(op)) return false;
    scores.scale *= *left;
    return run(op->getOperand(1), dims);
  }

  /// One bias, which is not scaled afterwards.
  bool passBias(Value matmul, Value bias, const ScoreDims& dims) {
    if (scores.bias || scores.scale != 1) return false;
    scores.bias = bias;
    scores.biasDims = dims;
    if (run(matmul, dims)) return true;
    scores.bias = Value();
    scores.scale = 1;
    return false;
  }

  /// One mask, and nothing is added to what it hides.
  bool passMask(arith::SelectOp select, const ScoreDims& dims) {
    std::optional<double> onFalse = getSplat(select.getFalseValue()), onTrue = getSplat(select.getTrueValue());
    if (scores.mask || scores.bias || onFalse.has_value() == onTrue.has_value()) return false;
    if (!isa<RankedTensorType>(select.getCondition().getType())) return false;
    scores.mask = select.getCondition();
    scores.maskDims = dims;
    scores.hidesWhereTrue = onTrue.has_value();
    scores.fill = (onTrue ? *onTrue : *onFalse) * scores.scale;
    return run(onTrue ? select.getFalseValue() : select.getTrueValue(), dims);
  }

  AttentionScores& scores;
};

}  // namespace

std::optional<AttentionScores> mlir::sgd::matchAttentionScores(math::ExpOp exponential) {
  auto difference = exponential.getOperand().getDefiningOp<arith::SubFOp>();
  if (!difference || !isa<RankedTensorType>(exponential.getType())) return std::nullopt;
  std::optional<int64_t> column = getColumn(difference.getLhs(), difference.getRhs());
  if (!column) return std::nullopt;
  AttentionScores scores;
  scores.exponential = exponential;
  scores.column = *column;
  // Scores that anybody else reads are kept anyway: maximum and difference.
  Value value = difference.getLhs();
  if (!value.hasNUses(2) || !ScoreWalk(scores).run(value, allDims(value))) return std::nullopt;
  bool isRead = scores.matmul.getResult() != value && !scores.matmul->hasOneUse();
  return isRead ? std::nullopt : std::optional(scores);
}
