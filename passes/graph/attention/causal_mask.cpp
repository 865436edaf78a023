// A walk from the mask to its comparison, and from there to the iotas.
#include "passes/graph/attention/causal_mask.h"

using namespace mlir;
using namespace mlir::sgd;

/// rows * row + columns * column + offset.
namespace {
struct Affine {
  int64_t rows = 0, columns = 0, offset = 0;

  Affine operator-(const Affine& other) const {
    return {rows - other.rows, columns - other.columns, offset - other.offset};
  }
  Affine operator+(const Affine& other) const {
    return {rows + other.rows, columns + other.columns, offset + other.offset};
  }
};
}  // namespace

static std::optional<int64_t> getInteger(Value value) {
  SplatElementsAttr splat = getSplatElements(value);
  if (!splat || !isa<IntegerType>(splat.getElementType())) return std::nullopt;
  APInt number = splat.getSplatValue<APInt>();
  return number.getBitWidth() == 1 ? number.getZExtValue() : number.getSExtValue();
}

static std::optional<Affine> readAffine(Value value, const ScoreDims& dims, int64_t row, int64_t column) {
  if (std::optional<int64_t> number = getInteger(value)) return Affine{0, 0, *number};
  Operation* op = value.getDefiningOp();
  if (!op) return std::nullopt;
  if (auto iota = dyn_cast<IotaOp>(op)) {
    // Far from where positions wrap around.
    int64_t dim = dims[iota.getDimension()];
    if (cast<RankedTensorType>(value.getType()).getElementTypeBitWidth() < 32) return std::nullopt;
    if (dim == row) return Affine{1, 0, 0};
    return dim == column ? std::optional(Affine{0, 1, 0}) : std::nullopt;
  }
  if (isa<arith::AddIOp, arith::SubIOp>(op)) {
    std::optional<Affine> a = readAffine(op->getOperand(0), dims, row, column);
    std::optional<Affine> b = a ? readAffine(op->getOperand(1), dims, row, column) : std::nullopt;
    if (!b || std::abs(a->offset) > 1 << 30 || std::abs(b->offset) > 1 << 30) return std::nullopt;
    return isa<arith::AddIOp>(op) ? *a + *b : *a - *b;
  }
  std::optional<ScoreDims> inner = getOperandDims(op, dims);
  return inner ? readAffine(op->getOperand(0), *inner, row, column) : std::nullopt;
}

/// The booleans that `op` finds different from zero after a conversion to numbers, as a mask of floats is used; null:
/// none.
static Value getTested(Operation* op) {
  auto compare = dyn_cast<arith::CmpFOp>(op);
  bool isUnequal = compare && (compare.getPredicate() == arith::CmpFPredicate::UNE ||
                               compare.getPredicate() == arith::CmpFPredicate::ONE);
  auto number = isUnequal && getSplat(compare.getRhs()) == 0.0 ? compare.getLhs().getDefiningOp<arith::UIToFPOp>()
                                                               : arith::UIToFPOp();
  bool isTruth = number && getElementTypeOrSelf(number.getIn().getType()).isInteger(1);
  return isTruth ? number.getIn() : Value();
}

std::optional<int64_t> mlir::sgd::readDiagonal(Value mask, const ScoreDims& dims, int64_t row, int64_t column,
                                               bool wanted) {
  Operation* op = mask.getDefiningOp();
  if (!op) return std::nullopt;
  if (auto select = dyn_cast<arith::SelectOp>(op)) {
    std::optional<int64_t> yes = getInteger(select.getTrueValue()), no = getInteger(select.getFalseValue());
    bool isPerElement = isa<RankedTensorType>(select.getCondition().getType());
    if (!isPerElement || !yes || !no || *yes == *no) return std::nullopt;
    return readDiagonal(select.getCondition(), dims, row, column, *yes == 1 ? wanted : !wanted);
  }
  if (std::optional<ScoreDims> inner = getOperandDims(op, dims))
    return readDiagonal(op->getOperand(0), *inner, row, column, wanted);
  if (Value truth = getTested(op)) return readDiagonal(truth, dims, row, column, wanted);
  auto compare = dyn_cast<arith::CmpIOp>(op);
  if (!compare) return std::nullopt;
  std::optional<Affine> a = readAffine(compare.getLhs(), dims, row, column);
  std::optional<Affine> b = a ? readAffine(compare.getRhs(), dims, row, column) : std::nullopt;
  if (!b) return std::nullopt;
  using P = arith::CmpIPredicate;
  P predicate = compare.getPredicate();
  if (!wanted) predicate = arith::invertPredicate(predicate);
  // As `difference >= 0`.
  Affine difference = predicate == P::sge || predicate == P::sgt ? *a - *b : *b - *a;
  if (predicate == P::sgt || predicate == P::slt) difference.offset -= 1;
  bool isSigned = llvm::is_contained({P::sge, P::sgt, P::sle, P::slt}, predicate);
  if (!isSigned || difference.rows != 1 || difference.columns != -1) return std::nullopt;
  return difference.offset;
}
