// Gather, scatter and dynamic slices. The gradient of a read at an index is an addition there, and of a write, a read.
#include "passes/graph/autodiff/derivative_rule.h"

using namespace mlir;
using namespace mlir::sgd;

namespace {

// Dynamic slices
// -----------------------------------------------------------------------------------------------------------------

void pullDynamicSlice(DynamicSliceOp op, Value g, Pullback& p) {
  p.addPart(op.getInput(), [&](Value sum) -> Value {
    if (!p.visitsRowsOnce(op.getInput())) {
      Value old = p.math.create<DynamicSliceOp>(g.getType(), sum, op.getStarts(), op.getSizes());
      g = p.math.add(old, g);
    }
    return p.math.create<DynamicUpdateSliceOp>(sum.getType(), sum, g, op.getStarts());
  });
}

void pullDynamicUpdateSlice(DynamicUpdateSliceOp op, Value g, Pullback& p) {
  if (p.wants(op.getUpdate())) {
    ArrayRef<int64_t> sizes = shapeOf(op.getUpdate());
    p.add(op.getUpdate(), p.math.create<DynamicSliceOp>(op.getUpdate().getType(), g, op.getStarts(), sizes));
  }
  if (!p.wants(op.getInput())) return;
  Value own = g;
  if (!p.visitsRowsOnce(op.getInput()))
    own = p.math.create<DynamicUpdateSliceOp>(g.getType(), g, p.getZeros(op.getUpdate()), op.getStarts());
  p.add(op.getInput(), own);
}

// Gather and scatter
// -----------------------------------------------------------------------------------------------------------------

/// The index vectors of a gather or scatter.
struct IndexVectors {
  Value indices;
  ArrayRef<int64_t> dims;  // per component, the dimension of the operand that it indexes
  int64_t vectorDim;
  bool isUnsigned;
};

/// Returns the largest start of each component, in the shape of the indices. `window` has the slice size per dimension
/// of the operand.
Value getLastStarts(TensorMath& math, const IndexVectors& vectors, ArrayRef<int64_t> operand,
                    ArrayRef<int64_t> window) {
  RankedTensorType type = tensorType(vectors.indices);
  SmallVector<APInt> last;
  for (int64_t dim : vectors.dims)
    last.emplace_back(type.getElementTypeBitWidth(), operand[dim] - window[dim], /*isSigned=*/true,
                      /*implicitTrunc=*/true);
  if (vectors.vectorDim == type.getRank())
    return math.create<arith::ConstantOp>(DenseElementsAttr::get(type, last.front()));
  auto vector = RankedTensorType::get({static_cast<int64_t>(last.size())}, type.getElementType());
  Value constant = math.create<arith::ConstantOp>(DenseElementsAttr::get(vector, last));
  return math.broadcast(constant, vectors.vectorDim, type.getShape());
}

/// Returns whether the index type can represent the largest starts; an index of few bits may not reach them.
bool canHoldLastStarts(const IndexVectors& vectors, ArrayRef<int64_t> operand, ArrayRef<int64_t> window) {
  unsigned bits = tensorType(vectors.indices).getElementTypeBitWidth() - (vectors.isUnsigned ? 0 : 1);
  return llvm::all_of(vectors.dims,
                      [&](int64_t dim) { return bits >= 63 || operand[dim] - window[dim] < (int64_t{1} << bits); });
}

/// Returns the starts that a gather uses: clamped so that slices are inside.
Value clampStarts(TensorMath& math, const IndexVectors& vectors, ArrayRef<int64_t> operand, ArrayRef<int64_t> window) {
  Value starts = vectors.indices;
  if (!vectors.isUnsigned) starts = math.maximum(starts, math.splat(tensorType(starts), int64_t{0}));
  if (!canHoldLastStarts(vectors, operand, window)) return starts;
  Value last = getLastStarts(math, vectors, operand, window);
  return vectors.isUnsigned ? math.create<arith::MinUIOp>(starts, last) : math.minimum(starts, last);
}

/// Returns, per index vector, whether its update lies inside the operand.
Value areInside(TensorMath& math, const IndexVectors& vectors, ArrayRef<int64_t> operand, ArrayRef<int64_t> window) {
  Value starts = vectors.indices, inside;
  RankedTensorType type = tensorType(starts);
  if (!vectors.isUnsigned) inside = math.isAtLeast(starts, math.splat(type, int64_t{0}));
  if (canHoldLastStarts(vectors, operand, window)) {
    Value last = getLastStarts(math, vectors, operand, window);
    auto predicate = vectors.isUnsigned ? arith::CmpIPredicate::ule : arith::CmpIPredicate::sle;
    Value isBelow = math.create<arith::CmpIOp>(predicate, starts, last);
    inside = inside ? math.both(inside, isBelow) : isBelow;
  }
  if (!inside)
    inside = math.create<arith::ConstantOp>(
        DenseElementsAttr::get(type.clone(IntegerType::get(type.getContext(), 1)), true));
  return vectors.vectorDim == type.getRank() ? inside : math.reduce(inside, ReduceKind::And, vectors.vectorDim);
}

void pullGather(GatherOp op, Value g, Pullback& p) {
  IndexVectors vectors{op.getIndices(), op.getStartIndexMap(), static_cast<int64_t>(op.getIndexVectorDim()),
                       op.getUnsignedIndices()};
  p.addPart(op.getInput(), [&](Value sum) {
    Value starts = clampStarts(p.math, vectors, shapeOf(op.getInput()), op.getSliceSizes());
    return p.math.create<ScatterOp>(sum.getType(), sum, starts, g, ScatterKind::Add, op.getOffsetDims(),
                                    op.getCollapsedSliceDims(), op.getOperandBatchingDims(),
                                    op.getIndicesBatchingDims(), op.getStartIndexMap(), op.getIndexVectorDim(),
                                    op.getUnsignedIndices(),
                                    /*unique_indices=*/false);
  });
}

/// Unit attribute of a scatter whose factors of zero are left out.
constexpr llvm::StringLiteral kFactorsWithoutZerosAttr = "sgd.factors_without_zeros";

/// The gradient of a scatter, built from the gather that reads the places it writes.
class ScatterGradient {
 public:
  ScatterGradient(ScatterOp op, Pullback& p)
      : op(op),
        p(p),
        math(p.math),
        vectors{op.getIndices(), op.getScatterDimsToOperandDims(), static_cast<int64_t>(op.getIndexVectorDim()),
                op.getUnsignedIndices()} {
    ArrayRef<int64_t> updates = shapeOf(op.getUpdates());
    auto windowDims = op.getUpdateWindowDims().begin();
    for (int64_t dim = 0, rank = shapeOf(op.getInput()).size(); dim < rank; ++dim) {
      bool isOne =
          llvm::is_contained(op.getInsertedWindowDims(), dim) || llvm::is_contained(op.getInputBatchingDims(), dim);
      window.push_back(isOne ? 1 : updates[*windowDims++]);
    }
  }

  /// Gathers `from`, which has the operand's shape, at the places of updates; unspecified for updates outside.
  Value read(Value from) {
    RankedTensorType type = tensorType(op.getUpdates()).clone(tensorType(from).getElementType());
    return math.create<GatherOp>(type, from, op.getIndices(), op.getUpdateWindowDims(), op.getInsertedWindowDims(),
                                 op.getInputBatchingDims(), op.getIndicesBatchingDims(),
                                 op.getScatterDimsToOperandDims(), op.getIndexVectorDim(), window,
                                 op.getUnsignedIndices());
  }

  Value write(Value into, Value updates, ScatterKind kind) {
    return math.create<ScatterOp>(into.getType(), into, op.getIndices(), updates, kind, op.getUpdateWindowDims(),
                                  op.getInsertedWindowDims(), op.getInputBatchingDims(), op.getIndicesBatchingDims(),
                                  op.getScatterDimsToOperandDims(), op.getIndexVectorDim(), op.getUnsignedIndices(),
                                  op.getUniqueIndices());
  }

  /// Returns `value`, which has the updates' shape, with zeros for updates outside.
  Value dropOutside(Value value) {
    Value inside = areInside(math, vectors, shapeOf(op.getInput()), window);
    SmallVector<int64_t> dims;
    for (int64_t dim = 0, rank = tensorType(value).getRank(); dim < rank; ++dim)
      if (!llvm::is_contained(op.getUpdateWindowDims(), dim)) dims.push_back(dim);
    Value everywhere = math.broadcast(inside, dims, shapeOf(value));
    return math.select(everywhere, value, p.getZeros(value));
  }

  /// Returns `value` with zeros for updates that a later update to the same place overwrites.
  Value keepWinners(Value value) {
    if (op.getUniqueIndices()) return dropOutside(value);
    RankedTensorType updates = tensorType(op.getUpdates()).clone(math.getBuilder().getI32Type());
    Value number = math.splat(updates, int64_t{0});
    int64_t stride = 1;
    for (int64_t dim = updates.getRank(); dim-- > 0; stride *= updates.getDimSize(dim)) {
      if (updates.getDimSize(dim) < 2) continue;
      number = math.add(number, math.multiply(math.create<IotaOp>(updates, dim), math.splat(updates, stride)));
    }
    Value none = math.splat(tensorType(op.getInput()).clone(math.getBuilder().getI32Type()), int64_t{-1});
    Value winner = read(write(none, number, ScatterKind::Set));
    return math.select(math.isEqual(winner, number), value, p.getZeros(value));
  }

  LogicalResult pull(Value g) {
    Value input = op.getInput(), updates = op.getUpdates();
    if (tensorType(input).getNumElements() == 0) return success();  // all updates are outside
    switch (op.getKind()) {
      case ScatterKind::Add:
        p.add(input, g);
        if (p.wants(updates)) p.add(updates, dropOutside(read(g)));
        return success();
      case ScatterKind::Set:
        if (p.wants(input)) p.add(input, write(g, p.getZeros(updates), ScatterKind::Set));
        if (p.wants(updates)) p.add(updates, keepWinners(read(g)));
        return success();
      case ScatterKind::Max:
      case ScatterKind::Min:
        pullExtremum(g);
        return success();
      case ScatterKind::Mul:
        return pullProduct(g);
      default:  // of integers
        return success();
    }
  }

 private:
  /// Operands and updates that equal the result share its gradient.
  void pullExtremum(Value g) {
    Value input = op.getInput(), updates = op.getUpdates(), result = op.getResult();
    auto indicate = [&](Value a, Value b) {
      return math.select(math.isEqual(a, b), math.splat(tensorType(a), 1.0), p.getZeros(a));
    };
    Value own = indicate(input, result), others = dropOutside(indicate(updates, read(result)));
    Value share = math.divide(g, write(own, others, ScatterKind::Add));
    p.add(input, math.multiply(share, own));
    if (p.wants(updates)) p.add(updates, math.multiply(read(share), others));
  }

  LogicalResult pullProduct(Value g) {
    Value input = op.getInput(), updates = op.getUpdates();
    if (op->hasAttr(kFactorsWithoutZerosAttr))
      return op.emitError() << "scatter mul has no second derivative by updates whose indices repeat; expected unique "
                               "indices; say so with unique_indices, or take one derivative";
    if (p.wants(input)) p.add(input, write(g, updates, ScatterKind::Mul));
    if (!p.wants(updates)) return success();
    if (!op.getUniqueIndices()) return pullRepeatedFactors(g);
    p.add(updates, dropOutside(math.multiply(read(g), read(input))));
    return success();
  }

  /// Updates that meet at one index. The others' product is the product of all that are not zero, divided by the own
  /// factor, if no other factor is zero. The derivative of this quotient lacks terms where factors are zero.
  LogicalResult pullRepeatedFactors(Value g) {
    Value input = op.getInput(), updates = op.getUpdates();
    auto one = [&](Value like) { return math.splat(tensorType(like), 1.0); };
    auto isZero = [&](Value value) { return math.isEqual(value, p.getZeros(value)); };
    auto indicate = [&](Value value) { return math.select(isZero(value), one(value), p.getZeros(value)); };
    auto dropZeros = [&](Value value) { return math.select(isZero(value), one(value), value); };
    Value zeros = read(write(indicate(input), indicate(updates), ScatterKind::Add));
    Value all = write(dropZeros(input), dropZeros(updates), ScatterKind::Mul);
    all.getDefiningOp()->setAttr(kFactorsWithoutZerosAttr, math.getBuilder().getUnitAttr());
    Value others = math.divide(read(math.multiply(g, all)), dropZeros(updates));
    Value isAlone = math.isEqual(zeros, indicate(updates));
    p.add(updates, dropOutside(math.select(isAlone, others, p.getZeros(updates))));
    return success();
  }

  ScatterOp op;
  Pullback& p;
  TensorMath& math;
  IndexVectors vectors;
  SmallVector<int64_t> window;  // by dimension of the operand
};

LogicalResult pullScatter(ScatterOp op, ArrayRef<Value> gradients, Pullback& p) {
  return ScatterGradient(op, p).pull(gradients.front());
}

}  // namespace

void mlir::sgd::attachIndexedDerivatives(MLIRContext& context) {
  attachDerivative<DynamicSliceOp, pullDynamicSlice>(context);
  attachDerivative<DynamicUpdateSliceOp, pullDynamicUpdateSlice>(context);
  attachDerivative<GatherOp, pullGather>(context);
  attachDerivatives<ScatterOp, pullScatter>(context);
}
