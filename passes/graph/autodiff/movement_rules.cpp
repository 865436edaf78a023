// Gradients move back to where elements came from; gradients of repeated elements are summed.
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "passes/graph/autodiff/derivative_rule.h"

using namespace mlir;
using namespace mlir::sgd;

namespace {

/// Sums over repeated dimensions, then restores the operand's order of dimensions.
void pullBroadcast(BroadcastInDimOp op, Value g, Pullback& p) {
  RankedTensorType from = tensorType(op.getInput()), to = op.getType();
  SmallVector<int64_t> summed, left, order;
  for (int64_t dim = 0; dim < to.getRank(); ++dim) {
    const auto* source = llvm::find(op.getDims(), dim);
    bool isRepeated = source == op.getDims().end() ||
                      (from.getDimSize(source - op.getDims().begin()) == 1 && to.getDimSize(dim) != 1);
    (isRepeated ? summed : left).push_back(dim);
  }
  Value sum = summed.empty() ? g : p.math.reduce(g, ReduceKind::Add, summed);
  for (int64_t dim : op.getDims())
    if (const auto* place = llvm::find(left, dim); place != left.end()) order.push_back(place - left.begin());
  if (!llvm::is_sorted(order)) sum = p.math.transpose(sum, order);
  p.add(op.getInput(), p.math.reshape(sum, from.getShape()));
}

void pullTranspose(TransposeOp op, Value g, Pullback& p) {
  p.add(op.getInput(), p.math.transpose(g, invertPermutationVector(op.getPermutation())));
}

void pullReshape(ReshapeOp op, Value g, Pullback& p) {
  p.add(op.getInput(), p.math.reshape(g, shapeOf(op.getInput())));
}

void pullSlice(SliceOp op, Value g, Pullback& p) {
  ArrayRef<int64_t> from = shapeOf(op.getInput()), to = op.getType().getShape();
  SmallVector<int64_t> low(op.getStarts()), high, interior;
  for (auto [dim, stride] : llvm::enumerate(op.getStrides())) {
    int64_t covered = to[dim] ? (to[dim] - 1) * stride + 1 : 0;
    high.push_back(from[dim] - low[dim] - covered);
    interior.push_back(stride - 1);
  }
  Value zero = p.math.splat(RankedTensorType::get({}, op.getType().getElementType()), 0.0);
  p.add(op.getInput(), p.math.create<PadOp>(tensorType(op.getInput()), g, zero, low, high, interior));
}

/// Extracts the operand's elements; elements removed by negative margins get zero. The rest belongs to the padding
/// value.
void pullPad(PadOp op, Value g, Pullback& p) {
  RankedTensorType from = tensorType(op.getInput());
  SmallVector<int64_t> low, high, none(from.getRank(), 0), limits, strides, shape;
  for (auto [dim, size] : llvm::enumerate(from.getShape())) {
    low.push_back(-op.getLow()[dim]);
    high.push_back(-op.getHigh()[dim]);
    strides.push_back(op.getInterior()[dim] + 1);
    shape.push_back(size ? (size - 1) * strides.back() + 1 : 0);
  }
  // An empty operand has no elements in between either, and its margins are all that there is.
  if (llvm::is_contained(from.getShape(), 0)) {
    if (p.wants(op.getValue()))
      p.add(op.getValue(), p.math.reduce(g, ReduceKind::Add, llvm::to_vector(llvm::seq<int64_t>(0, from.getRank()))));
    return;
  }
  Value zero = p.math.splat(RankedTensorType::get({}, from.getElementType()), 0.0);
  Value inner = p.math.create<PadOp>(from.clone(shape), g, zero, low, high, none);
  Value own = llvm::all_of(strides, [](int64_t stride) { return stride == 1; })
                  ? inner
                  : p.math.create<SliceOp>(from, inner, none, shape, strides);
  p.add(op.getInput(), own);
  if (!p.wants(op.getValue())) return;
  auto all = llvm::to_vector(llvm::seq<int64_t>(0, from.getRank()));
  Value total = p.math.reduce(g, ReduceKind::Add, all), part = p.math.reduce(own, ReduceKind::Add, all);
  p.add(op.getValue(), p.math.subtract(total, part));
}

void pullConcatenate(ConcatenateOp op, Value g, Pullback& p) {
  SmallVector<int64_t> begins(op.getType().getRank(), 0), ends(op.getType().getShape());
  int64_t dim = op.getDimension();
  for (Value input : op.getInputs()) {
    ends[dim] = begins[dim] + shapeOf(input)[dim];
    if (p.wants(input)) p.add(input, p.math.slice(g, begins, ends));
    begins[dim] = ends[dim];
  }
}

void pullReverse(ReverseOp op, Value g, Pullback& p) {
  p.add(op.getInput(), p.math.create<ReverseOp>(g.getType(), g, op.getDimensions()));
}

/// Gradients are sharded as values are.
void pullConstraint(ShardingConstraintOp op, Value g, Pullback& p) {
  Operation* same = p.math.getBuilder().clone(*op);
  same->setOperand(0, g);
  p.add(op.getInput(), same->getResult(0));
}

/// Gradients of one barrier wait for each other too.
LogicalResult pullBarrier(OptimizationBarrierOp op, ArrayRef<Value> gradients, Pullback& p) {
  SmallVector<Value> inputs, through;
  for (auto [input, gradient] : llvm::zip(op.getInputs(), gradients))
    if (gradient && p.wants(input)) inputs.push_back(input), through.push_back(gradient);
  auto barrier =
      OptimizationBarrierOp::create(p.math.getBuilder(), op.getLoc(), ValueRange(through).getTypes(), through);
  for (auto [input, gradient] : llvm::zip(inputs, barrier.getResults())) p.add(input, gradient);
  return success();
}

}  // namespace

void mlir::sgd::attachMovementDerivatives(MLIRContext& context) {
  attachDerivative<BroadcastInDimOp, pullBroadcast>(context);
  attachDerivative<TransposeOp, pullTranspose>(context);
  attachDerivative<ReshapeOp, pullReshape>(context);
  attachDerivative<SliceOp, pullSlice>(context);
  attachDerivative<PadOp, pullPad>(context);
  attachDerivative<ConcatenateOp, pullConcatenate>(context);
  attachDerivative<ReverseOp, pullReverse>(context);
  attachDerivative<ShardingConstraintOp, pullConstraint>(context);
  attachDerivatives<OptimizationBarrierOp, pullBarrier>(context);
}
