// Goes through the ops behind an exponential and says of each what it computes, in the algebra of softmax_terms.h.
#include "passes/graph/attention/softmax_uses.h"

#include <set>

#include "dialects/sgd/tensor_type.h"
#include "passes/graph/attention/softmax_terms.h"

using namespace mlir;
using namespace mlir::sgd;

namespace {

struct Known {
  SoftmaxTerms terms;
  ScoreDims dims;
  bool isMasked = false;  ///< zero where the mask hides
};

struct ComesBefore {
  bool operator()(Operation* one, Operation* other) const { return one != other && one->isBeforeInBlock(other); }
};

class Finder {
 public:
  explicit Finder(const AttentionScores& scores)
      : scores(scores), shape(shapeOf(scores.exponential->getResult(0))), column(scores.column) {}

  std::optional<SoftmaxUses> run() {
    math::ExpOp exponential = scores.exponential;
    define(exponential.getResult(),
           {SoftmaxTerms::exponential(), llvm::to_vector<6>(llvm::seq<int64_t>(0, shape.size()))});
    while (!readers.empty()) {
      Operation* op = *readers.begin();
      readers.erase(readers.begin());
      if (!visit(op)) return std::nullopt;
    }
    return uses;
  }

 private:
  void define(Value value, Known what) {
    known.try_emplace(value, std::move(what));
    for (Operation* user : value.getUsers())
      if (user->getBlock() == scores.exponential->getBlock()) readers.insert(user);
  }
  const Known* get(Value value) const {
    auto it = known.find(value);
    return it == known.end() ? nullptr : &it->second;
  }

  /// Whether the op computes something known, or is one of the matmuls.
  bool visit(Operation* op) {
    if (LabelledMatmul matmul{op}) return visitMatmul(matmul);
    if (op->getNumResults() != 1 || op->getNumRegions() != 0) return false;
    if (op->use_empty()) return true;
    std::optional<Known> result = compute(op);
    if (!result) return false;
    define(op->getResult(0), std::move(*result));
    return true;
  }

  std::optional<Known> compute(Operation* op) {
    if (isa<arith::MulFOp, arith::DivFOp, arith::AddFOp, arith::SubFOp>(op)) return computeBinary(op);
    if (auto select = dyn_cast<arith::SelectOp>(op)) return computeMasked(select);
    if (auto reduce = dyn_cast<ReduceOp>(op)) return computeSum(reduce);
    const Known* input = get(op->getOperand(0));
    if (isa<arith::ExtFOp, arith::TruncFOp>(op)) return *input;
    if (isa<arith::NegFOp>(op)) return Known{input->terms * SoftmaxTerms::constant(-1), input->dims, input->isMasked};
    std::optional<ScoreDims> dims = getResultDims(op, *input);
    return dims ? std::optional(Known{input->terms, *dims, input->isMasked}) : std::nullopt;
  }

  // Elementwise
  // -------------------------------------------------------------------------------------------------------------------

  /// The other operand of a binary op on a known value: a constant, or the gradient of the weights.
  std::optional<Known> getOther(Value value, const Known& beside) {
    if (const Known* found = get(value)) return *found;
    if (std::optional<double> splat = getSplat(value))
      return Known{SoftmaxTerms::constant(*splat), beside.dims, beside.isMasked};
    return getWeightGradient(value, beside.dims);
  }

  std::optional<Known> computeBinary(Operation* op) {
    const Known* first = get(op->getOperand(0));
    std::optional<Known> lhs = first ? *first : getOther(op->getOperand(0), *get(op->getOperand(1)));
    if (!lhs) return std::nullopt;
    std::optional<Known> rhs = getOther(op->getOperand(1), *lhs);
    if (!rhs || lhs->dims != rhs->dims) return std::nullopt;
    bool isSum = isa<arith::AddFOp, arith::SubFOp>(op);
    if (isSum && lhs->isMasked != rhs->isMasked) return std::nullopt;
    bool isMasked = lhs->isMasked || (rhs->isMasked && !isa<arith::DivFOp>(op));
    if (isa<arith::DivFOp>(op)) {
      std::optional<SoftmaxTerms> quotient = lhs->terms.dividedBy(rhs->terms);
      return quotient ? std::optional(Known{*quotient, lhs->dims, isMasked}) : std::nullopt;
    }
    SoftmaxTerms terms = isa<arith::AddFOp>(op)   ? lhs->terms + rhs->terms
                         : isa<arith::SubFOp>(op) ? lhs->terms - rhs->terms
                                                  : lhs->terms * rhs->terms;
    return Known{terms, lhs->dims, isMasked};
  }

  /// Zero where the scores' mask hides.
  std::optional<Known> computeMasked(arith::SelectOp select) {
    Value value = scores.hidesWhereTrue ? select.getFalseValue() : select.getTrueValue();
    Value other = scores.hidesWhereTrue ? select.getTrueValue() : select.getFalseValue();
    const Known* input = get(value);
    if (!input || getSplat(other) != 0.0 || select.getCondition() != scores.mask || input->dims != scores.maskDims)
      return std::nullopt;
    return Known{input->terms, input->dims, true};
  }

  // Shapes
  // -------------------------------------------------------------------------------------------------------------------

  /// Dimensions of the result of an op that moves elements.
  std::optional<ScoreDims> getResultDims(Operation* op, const Known& input) {
    if (auto transpose = dyn_cast<TransposeOp>(op)) {
      ScoreDims dims;
      for (int64_t from : transpose.getPermutation()) dims.push_back(input.dims[from]);
      return dims;
    }
    if (auto broadcast = dyn_cast<BroadcastInDimOp>(op)) return getBroadcastDims(broadcast, input.dims);
    if (auto reshape = dyn_cast<ReshapeOp>(op)) return getReshapedDims(reshape, input.dims);
    return std::nullopt;
  }

  /// A new dimension of more than one element can only be the column: dimensions are compared where values meet.
  std::optional<ScoreDims> getBroadcastDims(BroadcastInDimOp op, ArrayRef<int64_t> from) {
    ArrayRef<int64_t> result = shapeOf(op.getResult());
    ScoreDims dims(result.size(), kNone);
    for (auto [to, dim, size] : llvm::zip(op.getDims(), from, shapeOf(op.getInput())))
      if (size == result[to]) dims[to] = dim;
    bool hasColumn = llvm::is_contained(dims, column);
    for (auto [dim, size] : llvm::zip(dims, result)) {
      if (dim != kNone || size == 1) continue;
      if (hasColumn || size != shape[column]) return std::nullopt;
      dim = column;
      hasColumn = true;
    }
    return fillUnitDims(dims, result);
  }

  std::optional<ScoreDims> getReshapedDims(ReshapeOp op, ArrayRef<int64_t> from) {
    ArrayRef<int64_t> result = shapeOf(op.getResult());
    std::optional<ScoreDims> dims = mlir::sgd::getReshapedDims(shapeOf(op.getInput()), result, from);
    if (!dims) return std::nullopt;
    return fillUnitDims(*dims, result);
  }

  /// A tensor of all dimensions has each once: those of one element stand where they are missing, in order.
  ScoreDims fillUnitDims(ScoreDims dims, ArrayRef<int64_t> sizes) {
    if (dims.size() != shape.size()) return dims;
    SmallVector<int64_t> missing;
    for (int64_t dim = 0; dim < static_cast<int64_t>(shape.size()); ++dim)
      if (!llvm::is_contained(dims, dim)) missing.push_back(dim);
    ScoreDims filled = dims;
    auto* next = missing.begin();
    for (auto [dim, size] : llvm::zip(filled, sizes)) {
      if (dim != kNone) continue;
      if (shape[*next] != size) return dims;
      dim = *next++;
    }
    return filled;
  }

  std::optional<Known> computeSum(ReduceOp op) {
    const Known* input = get(op.getInput());
    if (op.getKind() != ReduceKind::Add) return std::nullopt;
    Known result{input->terms, {}, false};
    bool overColumn = false;
    for (auto [dim, size] : llvm::enumerate(shapeOf(op.getInput()))) {
      bool isSummed = llvm::is_contained(op.getDimensions(), static_cast<int64_t>(dim));
      if (!isSummed) result.dims.push_back(input->dims[dim]);
      if (isSummed && input->dims[dim] == column && !overColumn)
        overColumn = true;
      else if (isSummed && size != 1)
        return std::nullopt;
    }
    if (!overColumn) return input->isMasked ? std::nullopt : std::optional(result);
    // A sum without the masked elements is not a row's whole sum.
    std::optional<SoftmaxTerms> sum = input->terms.sumOverRow();
    if (!sum || input->isMasked) return std::nullopt;
    result.terms = *sum;
    return result;
  }

  // Matmuls
  // -------------------------------------------------------------------------------------------------------------------

  /// The dimensions of the exponentials that the labels of a matmul are; kOwnLabel: none.
  using LabelMap = llvm::SmallDenseMap<int64_t, int64_t, 8>;

  static SmallVector<int64_t> rename(ArrayRef<int64_t> labels, const LabelMap& map) {
    SmallVector<int64_t> names;
    for (int64_t label : labels) {
      auto it = map.find(label);
      names.push_back(it == map.end() ? kOwnLabel : it->second);
    }
    return names;
  }

  /// `value`, a matmul of gradients of the output with values, perhaps scaled, with its dimensions in terms of `dims`.
  std::optional<Known> getWeightGradient(Value value, const ScoreDims& dims) {
    double factor = 1;
    ScoreDims inner = dims;
    while (Operation* op = value.getDefiningOp()) {
      if (LabelledMatmul matmul{op}) {
        if (!recordWeightGradient(matmul, inner)) return std::nullopt;
        return Known{SoftmaxTerms::weightGradient(factor), dims};
      }
      unsigned next = 0;
      if (isa<arith::MulFOp, arith::DivFOp>(op)) {
        std::optional<double> left = getSplat(op->getOperand(0)), right = getSplat(op->getOperand(1));
        if (right && *right != 0) {
          factor *= isa<arith::DivFOp>(op) ? 1 / *right : *right;
        } else if (left && isa<arith::MulFOp>(op)) {
          factor *= *left;
          next = 1;
        } else {
          return std::nullopt;
        }
      } else if (auto transpose = dyn_cast<TransposeOp>(op)) {
        inner = *getOperandDims(op, inner);
      } else if (!isa<arith::ExtFOp, arith::TruncFOp>(op)) {
        return std::nullopt;
      }
      value = op->getOperand(next);
    }
    return std::nullopt;
  }

  bool recordWeightGradient(const LabelledMatmul& op, const ScoreDims& dims) {
    if (uses.weightGradient) return uses.weightGradient->op == op && weightGradientDims == dims;
    if (get(op.getLhs()) || get(op.getRhs()) || llvm::is_contained(dims, kNone)) return false;
    LabelMap map;
    for (auto [label, dim] : llvm::zip(op.getResultLabels(), dims)) map[label] = dim;
    LabelledValue lhs = stripLayout(op.getLhs(), rename(op.getLhsLabels(), map));
    LabelledValue rhs = stripLayout(op.getRhs(), rename(op.getRhsLabels(), map));
    bool isLhsValue = llvm::is_contained(lhs.labels, column);
    if (isLhsValue == llvm::is_contained(rhs.labels, column)) return false;
    if (llvm::count(lhs.labels, kOwnLabel) != 1 || llvm::count(rhs.labels, kOwnLabel) != 1) return false;
    uses.weightGradient = isLhsValue ? WeightGradient{op, lhs, rhs} : WeightGradient{op, rhs, lhs};
    weightGradientDims = dims;
    return true;
  }

  bool visitMatmul(const LabelledMatmul& op) {
    const Known *lhs = get(op.getLhs()), *rhs = get(op.getRhs());
    if (lhs && rhs) return false;
    const Known& own = lhs ? *lhs : *rhs;
    if (llvm::is_contained(own.dims, kNone)) return false;
    LabelMap map;
    for (auto [label, dim] : llvm::zip(lhs ? op.getLhsLabels() : op.getRhsLabels(), own.dims)) map[label] = dim;
    Value other = lhs ? op.getRhs() : op.getLhs();
    SoftmaxMatmul matmul{op, stripLayout(other, rename(lhs ? op.getRhsLabels() : op.getLhsLabels(), map)),
                         rename(op.getResultLabels(), map)};
    if (own.dims.size() != shape.size() || llvm::count(matmul.other.labels, kOwnLabel) != 1) return false;
    bool overColumns = llvm::is_contained(matmul.other.labels, column);
    if (llvm::is_contained(matmul.resultLabels, column) == overColumns) return false;
    bool isWeight = own.terms.isWeight() && !own.isMasked;
    bool isGradient = own.terms.isScoreGradient(scores.scale) && own.isMasked == static_cast<bool>(scores.mask);
    if (!isWeight && !isGradient) return false;
    std::optional<SoftmaxMatmul>& slot = isWeight ? (overColumns ? uses.out : uses.valueGradient)
                                                  : (overColumns ? uses.queryGradient : uses.keyGradient);
    if (slot) return false;
    slot = matmul;
    return true;
  }

  const AttentionScores& scores;
  ArrayRef<int64_t> shape;
  int64_t column;
  llvm::DenseMap<Value, Known> known;
  std::set<Operation*, ComesBefore> readers;  // of known values, not visited yet
  SoftmaxUses uses;
  ScoreDims weightGradientDims;
};

}  // namespace

std::optional<SoftmaxUses> mlir::sgd::findSoftmaxUses(const AttentionScores& scores) { return Finder(scores).run(); }
