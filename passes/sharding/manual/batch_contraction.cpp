// Matmuls: axes over which both operands differ are batch dimensions, those of one of them are free ones.
#include "passes/sharding/manual/batch_rule.h"

using namespace mlir;
using namespace mlir::sgd;

/// Positions in `axes` of those in `chosen`.
static SmallVector<int64_t> positionsOf(ArrayRef<unsigned> chosen, ArrayRef<unsigned> axes) {
  return llvm::map_to_vector(chosen, [&](unsigned axis) { return int64_t(llvm::find(axes, axis) - axes.begin()); });
}

static Batched batchDot(DotGeneralOp op, ArrayRef<Batched> operands, BatchBuilder& batch) {
  const Batched &lhs = operands[0], &rhs = operands[1];
  AxisIndices lhsOnly = without(lhs.axes, rhs.axes), rhsOnly = without(rhs.axes, lhs.axes),
              common = without(lhs.axes, lhsOnly), axes = unite(lhs.axes, rhs.axes);
  SmallVector<int64_t> lhsBatching = positionsOf(common, lhs.axes), rhsBatching = positionsOf(common, rhs.axes);
  llvm::append_range(lhsBatching, shifted(lhs.axes.size(), op.getLhsBatching()));
  llvm::append_range(rhsBatching, shifted(rhs.axes.size(), op.getRhsBatching()));
  // Result: common, batch, only lhs, free lhs, only rhs, free rhs.
  int64_t batchDims = op.getLhsBatching().size(), lhsFree = op.getLhsFree().size(), rhsFree = op.getRhsFree().size();
  int64_t lhsStart = common.size() + batchDims, rhsStart = lhsStart + lhsOnly.size() + lhsFree;
  SmallVector<int64_t> shape = batch.getSizes(common), permutation;
  ArrayRef<int64_t> own = op.getType().getShape();
  llvm::append_range(shape, own.take_front(batchDims));
  llvm::append_range(shape, batch.getSizes(lhsOnly));
  llvm::append_range(shape, own.slice(batchDims, lhsFree));
  llvm::append_range(shape, batch.getSizes(rhsOnly));
  llvm::append_range(shape, own.take_back(rhsFree));
  for (unsigned axis : axes) {
    if (const unsigned* at = llvm::find(common, axis); at != common.end())
      permutation.push_back(at - common.begin());
    else if (const unsigned* left = llvm::find(lhsOnly, axis); left != lhsOnly.end())
      permutation.push_back(lhsStart + (left - lhsOnly.begin()));
    else
      permutation.push_back(rhsStart + (llvm::find(rhsOnly, axis) - rhsOnly.begin()));
  }
  auto append = [&](int64_t start, int64_t count) {
    for (int64_t dim = start; dim < start + count; ++dim) permutation.push_back(dim);
  };
  append(common.size(), batchDims);
  append(lhsStart + lhsOnly.size(), lhsFree);
  append(rhsStart + rhsOnly.size(), rhsFree);
  Value product = DotGeneralOp::create(batch.getBuilder(), op.getLoc(), op.getType().clone(shape), lhs.value, rhs.value,
                                       lhsBatching, rhsBatching, shifted(lhs.axes.size(), op.getLhsContracting()),
                                       shifted(rhs.axes.size(), op.getRhsContracting()), op.getTf32());
  return {batch.transpose(op.getLoc(), product, permutation), axes};
}

/// [axes..., shape] with the leading dimensions joined to dimension `dim` of `shape`, as its major part.
static Value joinInto(const Batched& batched, int64_t dim, Location loc, BatchBuilder& batch) {
  Batched inside = batch.bringIn(loc, batched, batched.axes, dim);
  SmallVector<int64_t> shape(batched.getShape());
  shape[dim] *= batch.getNumRanks(batched.axes);
  return batch.reshape(loc, inside, shape).value;
}

/// The reverse of joinInto: `shape` is that of one rank.
static Batched splitFrom(Value value, ArrayRef<unsigned> axes, ArrayRef<int64_t> shape, int64_t dim, Location loc,
                         BatchBuilder& batch) {
  SmallVector<int64_t> split(shape);
  SmallVector<int64_t> sizes = batch.getSizes(axes);
  split.insert(split.begin() + dim, sizes.begin(), sizes.end());
  return batch.takeOut(loc, batch.reshape(loc, {value, {}}, split), axes, dim);
}

/// Ranks are groups of one convolution; with the same filters on all ranks they are parts of its batch.
static Batched batchConvolution(ConvolutionOp op, ArrayRef<Batched> operands, BatchBuilder& batch) {
  const Batched &lhs = operands[0], &rhs = operands[1];
  Location loc = op.getLoc();
  AxisIndices axes = unite(lhs.axes, rhs.axes);
  int64_t group = op.getNumSpatialDims() + 1, dim = rhs.isUniform() ? 0 : group;
  Value left = joinInto(batch.spread(loc, lhs, axes), dim, loc, batch);
  Value right = rhs.isUniform() ? rhs.value : joinInto(batch.spread(loc, rhs, axes), group - 1, loc, batch);
  SmallVector<int64_t> shape(op.getType().getShape());
  shape[dim] *= batch.getNumRanks(axes);
  Value result =
      ConvolutionOp::create(batch.getBuilder(), loc, op.getType().clone(shape), left, right, op.getStrides(),
                            op.getLow(), op.getHigh(), op.getLhsDilations(), op.getRhsDilations(), op.getTf32());
  return splitFrom(result, axes, op.getType().getShape(), dim, loc, batch);
}

void mlir::sgd::attachContractionBatchRules(MLIRContext& context) {
  attachBatchRule<DotGeneralOp, batchDot>(context);
  attachBatchRule<ConvolutionOp, batchConvolution>(context);
}
