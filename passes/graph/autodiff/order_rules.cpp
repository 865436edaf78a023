// Sorts, top_k and cumulative ops: gradients follow the positions of elements.
#include "passes/graph/autodiff/derivative_rule.h"

using namespace mlir;
using namespace mlir::sgd;

namespace {

/// Scatters `values` into `into` at `positions` of dimension `dim`; the other dimensions are batch dimensions.
Value putAlong(TensorMath& math, Value into, Value positions, Value values, int64_t dim, ScatterKind kind) {
  SmallVector<int64_t> batch;
  for (int64_t other = 0, rank = tensorType(into).getRank(); other < rank; ++other)
    if (other != dim) batch.push_back(other);
  return math.create<ScatterOp>(
      into.getType(), into, positions, values, kind, /*update_window_dims=*/ArrayRef<int64_t>{},
      /*inserted_window_dims=*/ArrayRef<int64_t>{dim}, /*input_batching_dims=*/batch,
      /*indices_batching_dims=*/batch, /*scatter_dims_to_operand_dims=*/ArrayRef<int64_t>{dim},
      /*index_vector_dim=*/tensorType(positions).getRank(), /*unsigned_indices=*/false,
      /*unique_indices=*/kind == ScatterKind::Set);
}

/// Replaces the sort by one that also sorts positions.
LogicalResult pullSort(SortOp op, ArrayRef<Value> gradients, Pullback& p) {
  auto dim = static_cast<int64_t>(op.getDimension());
  OpBuilder before(op);
  SmallVector<Value> inputs(op.getInputs());
  Type element = before.getI32Type();
  inputs.push_back(IotaOp::create(before, op.getLoc(), tensorType(inputs.front()).clone(element), dim));
  auto sorted = SortOp::create(before, op.getLoc(), ValueRange(inputs).getTypes(), inputs, op.getDimension());
  sorted->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  sorted.getComparator().takeBody(op.getComparator());
  for (int side = 0; side < 2; ++side) sorted.getComparator().addArgument(element, op.getLoc());
  Value positions = sorted.getResults().back();
  for (auto [input, gradient] : llvm::zip(op.getInputs(), gradients))
    if (gradient && p.wants(input))
      p.add(input, putAlong(p.math, p.getZeros(input), positions, gradient, dim, ScatterKind::Set));
  op->replaceAllUsesWith(sorted.getResults().drop_back());
  op.erase();
  return success();
}

LogicalResult pullTopK(TopKOp op, ArrayRef<Value> gradients, Pullback& p) {
  if (gradients.front())
    p.add(op.getInput(), putAlong(p.math, p.getZeros(op.getInput()), op.getPositions(), gradients.front(),
                                  tensorType(op.getInput()).getRank() - 1, ScatterKind::Set));
  return success();
}

/// Multiplies all elements but one, and sums over products: the products before an element times s, where s[i] = g[i] +
/// x[i + 1] s[i + 1] comes from doublings of its range. Exact for zeros.
Value pullFromProducts(CumulativeOp op, Value g, TensorMath& math) {
  auto dim = static_cast<int64_t>(op.getDimension());
  RankedTensorType type = tensorType(g);
  if (type.getNumElements() == 0) return g;
  // Element i of the result is element i + by in the op's direction; `fill` from outside.
  auto shift = [&](Value value, int64_t by, double fill) {
    SmallVector<int64_t> none(type.getRank(), 0), low(none), high(none);
    low[dim] = op.getReverse() ? by : -by, high[dim] = -low[dim];
    Value outside = math.splat(RankedTensorType::get({}, type.getElementType()), fill);
    return math.create<PadOp>(type, value, outside, low, high, none);
  };
  Value sum = g, factor = shift(op.getInput(), 1, 0);
  for (int64_t by = 1; by < type.getDimSize(dim); by *= 2) {
    sum = math.add(sum, math.multiply(factor, shift(sum, by, 0)));
    if (by * 2 < type.getDimSize(dim)) factor = math.multiply(factor, shift(factor, by, 0));
  }
  return math.multiply(sum, shift(op.getResult(), -1, 1));
}

/// A sum's gradient is the reversed cumulative sum. An extremum's goes to the last element so far that equals it.
void pullCumulative(CumulativeOp op, Value g, Pullback& p) {
  TensorMath& math = p.math;
  Value input = op.getInput();
  auto dim = static_cast<int64_t>(op.getDimension());
  switch (op.getKind()) {
    case ReduceKind::Add:
      p.add(input, math.create<CumulativeOp>(g.getType(), g, ReduceKind::Add, dim, !op.getReverse()));
      return;
    case ReduceKind::Max:
    case ReduceKind::Min: {
      RankedTensorType type = tensorType(input).clone(math.getBuilder().getI32Type());
      Value own = math.create<IotaOp>(type, dim);
      Value none = math.splat(type, op.getReverse() ? type.getDimSize(dim) : int64_t{-1});
      Value seen = math.select(math.isEqual(input, op.getResult()), own, none);
      ReduceKind latest = op.getReverse() ? ReduceKind::Min : ReduceKind::Max;
      Value positions = math.create<CumulativeOp>(type, seen, latest, dim, op.getReverse());
      p.add(input, putAlong(math, p.getZeros(input), positions, g, dim, ScatterKind::Add));
      return;
    }
    case ReduceKind::Mul:
      p.add(input, pullFromProducts(op, g, math));
      return;
    default:  // of integers
      return;
  }
}

}  // namespace

void mlir::sgd::attachOrderDerivatives(MLIRContext& context) {
  attachDerivatives<SortOp, pullSort>(context);
  attachDerivatives<TopKOp, pullTopK>(context);
  attachDerivative<CumulativeOp, pullCumulative>(context);
}
