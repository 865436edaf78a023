// Reductions and contractions: floats accumulate in double precision and round once.
#include "dialects/fusion/fusion_dialect.h"
#include "reference/ops.h"
#include "reference/scalar.h"

using namespace mlir;
using namespace mlir::sgd;
using namespace mlir::sgd::reference;

static LogicalResult evaluateReduce(ReduceOp op, Operands operands, Results results) {
  const Tensor& in = *operands[0];
  Tensor& out = *results[0];
  FloatCombiner combineFloats = getFloatCombiner(op.getKind());
  if (out.isFloat() && !combineFloats)
    return op.emitOpError("has no reference evaluation for floats; expected integers; convert the operands");
  OpBuilder builder(op.getContext());
  out.fill(getNeutralElement(builder, op.getKind(), out.element()));
  forEachIndex(in.shape(), [&](ArrayRef<int64_t> index, int64_t at) {
    Index kept;
    for (auto [dim, position] : llvm::enumerate(index))
      if (!llvm::is_contained(op.getDimensions(), static_cast<int64_t>(dim))) kept.push_back(position);
    int64_t to = flatten(kept, out.shape());
    if (out.isFloat())
      out.floats[to] = combineFloats(out.floats[to], in.floats[at]);
    else
      out.integers[to] = combine(op.getKind(), out.integers[to], in.integers[at], out.element());
  });
  if (out.isFloat())
    for (double& value : out.floats) value = roundTo(value, out.element());
  return success();
}

/// Every element from scratch, so that each is rounded once.
static LogicalResult evaluateCumulative(CumulativeOp op, Operands operands, Results results) {
  const Tensor& in = *operands[0];
  Tensor& out = *results[0];
  FloatCombiner combineFloats = getFloatCombiner(op.getKind());
  if (out.isFloat() && !combineFloats)
    return op.emitOpError("has no reference evaluation for floats; expected integers; convert the operands");
  int64_t dim = op.getDimension(), size = out.type.getDimSize(dim);
  OpBuilder builder(op.getContext());
  out.fill(getNeutralElement(builder, op.getKind(), out.element()));
  forEachIndex(out.shape(), [&](ArrayRef<int64_t> first, int64_t) {
    if (first[dim] != 0) return;  // lines along the dimension begin at 0
    Index at(first);
    int64_t before = -1;
    for (int64_t i = 0; i < size; ++i) {
      at[dim] = op.getReverse() ? size - 1 - i : i;
      int64_t to = flatten(at, out.shape());
      if (out.isFloat())
        out.floats[to] = combineFloats(out.floats[before < 0 ? to : before], in.floats[to]);
      else
        out.integers[to] =
            combine(op.getKind(), out.integers[before < 0 ? to : before], in.integers[to], out.element());
      before = to;
    }
  });
  for (double& value : out.floats) value = roundTo(value, out.element());
  return success();
}

/// Distance in elements between neighbours along each label; 0 for labels that the tensor does not have.
static Index getStrides(const Tensor& tensor, ArrayRef<int64_t> labels, int64_t numLabels) {
  Index strides(numLabels, 0);
  int64_t stride = 1;
  for (int64_t dim = tensor.rank() - 1; dim >= 0; --dim) {
    strides[labels[dim]] += stride;
    stride *= tensor.type.getDimSize(dim);
  }
  return strides;
}

/// An einsum: labels 0 .. n-1 name the dimensions; those that the result lacks are summed over.
static void contract(const Tensor& lhs, ArrayRef<int64_t> lhsLabels, const Tensor& rhs, ArrayRef<int64_t> rhsLabels,
                     ArrayRef<int64_t> resultLabels, Tensor& out) {
  int64_t numLabels = 0;
  for (int64_t label : llvm::concat<const int64_t>(lhsLabels, rhsLabels)) numLabels = std::max(numLabels, label + 1);
  Index lhsStrides = getStrides(lhs, lhsLabels, numLabels), rhsStrides = getStrides(rhs, rhsLabels, numLabels);
  Index summed, summedShape;
  for (auto [dim, label] : llvm::enumerate(lhsLabels))
    if (!llvm::is_contained(resultLabels, label)) {
      summed.push_back(label);
      summedShape.push_back(lhs.type.getDimSize(dim));
    }
  forEachIndex(out.shape(), [&](ArrayRef<int64_t> index, int64_t at) {
    int64_t lhsBase = 0, rhsBase = 0;
    for (auto [position, label] : llvm::zip(index, resultLabels)) {
      lhsBase += position * lhsStrides[label];
      rhsBase += position * rhsStrides[label];
    }
    double sum = 0;
    uint64_t integerSum = 0;
    forEachIndex(summedShape, [&](ArrayRef<int64_t> inner, int64_t) {
      int64_t l = lhsBase, r = rhsBase;
      for (auto [position, label] : llvm::zip(inner, summed)) {
        l += position * lhsStrides[label];
        r += position * rhsStrides[label];
      }
      if (out.isFloat())
        sum += lhs.floats[l] * rhs.floats[r];
      else
        integerSum += static_cast<uint64_t>(lhs.integers[l]) * static_cast<uint64_t>(rhs.integers[r]);
    });
    out.isFloat() ? out.setFloat(at, sum) : out.setInteger(at, static_cast<int64_t>(integerSum));
  });
}

static void evaluateDot(DotGeneralOp op, Operands in, Results out) {
  const Tensor &lhs = *in[0], &rhs = *in[1];
  Index lhsLabels = llvm::to_vector<6>(llvm::seq<int64_t>(0, lhs.rank())), rhsLabels(rhs.rank(), -1), resultLabels;
  int64_t next = lhs.rank();
  for (auto [l, r] : llvm::zip(op.getLhsBatching(), op.getRhsBatching())) rhsLabels[r] = l;
  for (auto [l, r] : llvm::zip(op.getLhsContracting(), op.getRhsContracting())) rhsLabels[r] = l;
  llvm::append_range(resultLabels, op.getLhsBatching());
  llvm::append_range(resultLabels, op.getLhsFree());
  for (int64_t dim : op.getRhsFree()) resultLabels.push_back(rhsLabels[dim] = next++);
  contract(lhs, lhsLabels, rhs, rhsLabels, resultLabels, *out[0]);
}

static void evaluateMatmul(fusion::MatmulOp op, Operands in, Results out) {
  contract(*in[0], op.getLhsLabels(), *in[1], op.getRhsLabels(), op.getResultLabels(), *out[0]);
}

void reference::addReductions(Evaluations& evaluations) {
  evaluations.add<ReduceOp>(evaluateReduce);
  evaluations.add<CumulativeOp>(evaluateCumulative);
  evaluations.add<DotGeneralOp>(evaluateDot);
  evaluations.add<fusion::MatmulOp>(evaluateMatmul);
}
