// Matmuls, convolutions and reductions.
#include "dialects/sgd/grouped_dot.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "passes/graph/autodiff/derivative_rule.h"

using namespace mlir;
using namespace mlir::sgd;

namespace {

// Matmuls
// -----------------------------------------------------------------------------------------------------------------

/// The gradient of one operand: the result's gradient contracted with the other operand over its free dimensions.
class OperandGradient {
 public:
  OperandGradient(DotGeneralOp op, bool isLhs) : op(op), isLhs(isLhs) {}

  Value write(Value g, Pullback& p) {
    Value operand = isLhs ? op.getLhs() : op.getRhs(), other = isLhs ? op.getRhs() : op.getLhs();
    ArrayRef<int64_t> batching = isLhs ? op.getLhsBatching() : op.getRhsBatching();
    ArrayRef<int64_t> otherBatching = isLhs ? op.getRhsBatching() : op.getLhsBatching();
    ArrayRef<int64_t> contracting = isLhs ? op.getLhsContracting() : op.getRhsContracting();
    ArrayRef<int64_t> otherContracting = isLhs ? op.getRhsContracting() : op.getLhsContracting();
    SmallVector<int64_t> free = isLhs ? op.getLhsFree() : op.getRhsFree();
    SmallVector<int64_t> otherFree = isLhs ? op.getRhsFree() : op.getLhsFree();
    auto numBatch = static_cast<int64_t>(batching.size()), numFree = static_cast<int64_t>(op.getLhsFree().size());
    auto batch = llvm::to_vector(llvm::seq<int64_t>(0, numBatch));
    int64_t firstOther = isLhs ? numBatch + numFree : numBatch;
    auto summed = llvm::to_vector(llvm::seq<int64_t>(firstOther, firstOther + otherFree.size()));

    // The result's dimensions: batch, the operand's free ones, then its contracting ones in the other's order.
    SmallVector<int64_t> inOrder(contracting);
    llvm::sort(inOrder, [&](int64_t a, int64_t b) {
      auto otherOf = [&](int64_t dim) { return otherContracting[llvm::find(contracting, dim) - contracting.begin()]; };
      return otherOf(a) < otherOf(b);
    });
    SmallVector<int64_t> places(batching), shape;
    llvm::append_range(places, free);
    llvm::append_range(places, inOrder);
    for (int64_t dim : places) shape.push_back(shapeOf(operand)[dim]);
    Value product = p.math.create<DotGeneralOp>(tensorType(operand).clone(shape), g, other, batch, otherBatching,
                                                summed, otherFree, op.getTf32());
    SmallVector<int64_t> order = invertPermutationVector(places);
    return llvm::is_sorted(order) ? product : p.math.transpose(product, order);
  }

 private:
  DotGeneralOp op;
  bool isLhs;
};

/// Rounds the gradient to the other operand's type, so that matmuls of narrow types stay narrow.
void pullDotGeneral(DotGeneralOp op, Value g, Pullback& p) {
  for (bool isLhs : {true, false}) {
    Value operand = isLhs ? op.getLhs() : op.getRhs();
    if (!p.wants(operand)) continue;
    Value narrow = p.math.convert(g, tensorType(isLhs ? op.getRhs() : op.getLhs()).getElementType());
    p.add(operand, OperandGradient(op, isLhs).write(narrow, p));
  }
}

void pullGroupedDot(GroupedDotOp op, Value g, Pullback& p) {
  auto create = [&](Type type, Value lhs, Value rhs, bool contracted, bool transposed) {
    return p.math.create<GroupedDotOp>(type, lhs, rhs, op.getRows(), op.getGroups(), contracted, transposed,
                                       op.getTf32());
  };
  Value lhs = op.getLhs(), rhs = op.getRhs();
  if (op.getContracted()) {
    // result[g, k, n] = sum over m of lhs[m, k] rhs[m, n].
    if (p.wants(lhs)) p.add(lhs, create(lhs.getType(), rhs, g, false, true));
    if (p.wants(rhs)) p.add(rhs, create(rhs.getType(), lhs, g, false, false));
    return;
  }
  if (p.wants(lhs)) p.add(lhs, create(lhs.getType(), g, rhs, false, !op.getTransposed()));
  if (!p.wants(rhs)) return;
  bool isTransposed = op.getTransposed();
  p.add(rhs, create(rhs.getType(), isTransposed ? g : lhs, isTransposed ? lhs : g, true, false));
}

// Convolutions
// -----------------------------------------------------------------------------------------------------------------

/// Attributes of a convolution that computes a gradient, by spatial dimension.
struct Windows {
  SmallVector<int64_t> strides, low, high, lhsDilations, rhsDilations;

  void add(int64_t stride, int64_t lowMargin, int64_t highMargin, int64_t lhsDilation, int64_t rhsDilation) {
    strides.push_back(stride);
    low.push_back(lowMargin);
    high.push_back(highMargin);
    lhsDilations.push_back(lhsDilation);
    rhsDilations.push_back(rhsDilation);
  }
  Value create(Pullback& p, RankedTensorType type, Value lhs, Value rhs, bool tf32) const {
    return p.math.create<ConvolutionOp>(type, lhs, rhs, strides, low, high, lhsDilations, rhsDilations, tf32);
  }
};

int64_t dilate(int64_t size, int64_t dilation) { return size ? (size - 1) * dilation + 1 : 0; }

/// Convolves the result's gradient, dilated by the strides, with the reversed kernel: gradient[i] = sum of g[o] *
/// rhs[k] over o * stride + k * rhs_dilation = low + i * lhs_dilation.
Value writeLhsGradient(ConvolutionOp op, Value g, Pullback& p) {
  int64_t rank = op.getNumSpatialDims();
  ArrayRef<int64_t> lhs = shapeOf(op.getLhs()), rhs = shapeOf(op.getRhs()), result = shapeOf(op.getResult());
  Windows windows;
  for (int64_t dim = 0; dim < rank; ++dim) {
    int64_t stride = op.getStrides()[dim], lhsDilation = op.getLhsDilations()[dim],
            rhsDilation = op.getRhsDilations()[dim];
    int64_t window = dilate(rhs[dim], rhsDilation), low = window - 1 - op.getLow()[dim];
    int64_t high = dilate(lhs[dim + 1], lhsDilation) - 1 + window - low - dilate(result[dim + 1], stride);
    windows.add(lhsDilation, low, high, stride, rhsDilation);
  }
  auto spatial = llvm::to_vector(llvm::seq<int64_t>(0, rank));
  SmallVector<int64_t> exchanged(spatial);
  exchanged.append({rank, rank + 2, rank + 1});
  Value kernel = p.math.create<ReverseOp>(op.getRhs().getType(), op.getRhs(), spatial);
  return windows.create(p, tensorType(op.getLhs()), g, p.math.transpose(kernel, exchanged), op.getTf32());
}

/// Convolves the lhs with the result's gradient: input features become the batch, and the batch is contracted.
Value writeRhsGradient(ConvolutionOp op, Value g, Pullback& p) {
  int64_t rank = op.getNumSpatialDims();
  ArrayRef<int64_t> lhs = shapeOf(op.getLhs()), rhs = shapeOf(op.getRhs()), result = shapeOf(op.getResult());
  Windows windows;
  for (int64_t dim = 0; dim < rank; ++dim) {
    int64_t stride = op.getStrides()[dim], lhsDilation = op.getLhsDilations()[dim],
            rhsDilation = op.getRhsDilations()[dim];
    int64_t high = dilate(rhs[dim], rhsDilation) - 1 + dilate(result[dim + 1], stride) - op.getLow()[dim] -
                   dilate(lhs[dim + 1], lhsDilation);
    windows.add(rhsDilation, op.getLow()[dim], high, lhsDilation, stride);
  }
  auto spatial = llvm::to_vector(llvm::seq<int64_t>(1, rank + 1));
  SmallVector<int64_t> images{rank + 2}, kernel(spatial), places;
  llvm::append_range(images, spatial);  // [C, s.., G, N]
  images.append({rank + 1, 0});
  kernel.append({rank + 1, 0, rank + 2});  // [o.., G, N, O]
  SmallVector<int64_t> shape{rhs[rank + 1]};
  llvm::append_range(shape, rhs.take_front(rank + 1));
  shape.push_back(rhs[rank + 2]);
  Value product = windows.create(p, tensorType(op.getRhs()).clone(shape), p.math.transpose(op.getLhs(), images),
                                 p.math.transpose(g, kernel), op.getTf32());  // [C, k.., G, O]
  llvm::append_range(places, spatial);
  places.append({rank + 1, 0, rank + 2});
  return p.math.transpose(product, places);
}

void pullConvolution(ConvolutionOp op, Value g, Pullback& p) {
  if (p.wants(op.getLhs()))
    p.add(op.getLhs(), writeLhsGradient(op, p.math.convert(g, tensorType(op.getRhs()).getElementType()), p));
  if (p.wants(op.getRhs()))
    p.add(op.getRhs(), writeRhsGradient(op, p.math.convert(g, tensorType(op.getLhs()).getElementType()), p));
}

// Reductions
// -----------------------------------------------------------------------------------------------------------------

/// Repeats `value`, the result of a reduction over `dims`, along them.
Value repeat(TensorMath& math, Value value, ArrayRef<int64_t> dims, ArrayRef<int64_t> shape) {
  SmallVector<int64_t> left;
  for (int64_t dim = 0, rank = shape.size(); dim < rank; ++dim)
    if (!llvm::is_contained(dims, dim)) left.push_back(dim);
  return math.broadcast(value, left, shape);
}

/// Elements that equal the result share its gradient.
Value pullFromExtremum(ReduceOp op, Value g, Pullback& p) {
  ArrayRef<int64_t> dims = op.getDimensions(), shape = shapeOf(op.getInput());
  TensorMath& math = p.math;
  Value isLargest = math.isEqual(op.getInput(), repeat(math, op.getResult(), dims, shape));
  Value share = math.select(isLargest, math.splat(tensorType(op.getInput()), 1.0), p.getZeros(op.getInput()));
  Value each = math.divide(g, math.reduce(share, ReduceKind::Add, dims));
  return math.multiply(share, repeat(math, each, dims, shape));
}

/// Multiplies all elements but one: the product of those before it times the product of those after it. Exact for
/// zeros.
Value pullFromProduct(ReduceOp op, Value g, Pullback& p) {
  TensorMath& math = p.math;
  RankedTensorType type = tensorType(op.getInput());
  SmallVector<int64_t> order, kept;
  int64_t count = 1, outer = 1;
  for (int64_t dim = 0; dim < type.getRank(); ++dim)
    if (!llvm::is_contained(op.getDimensions(), dim))
      order.push_back(dim), kept.push_back(dim), outer *= type.getDimSize(dim);
  for (int64_t dim = 0; dim < type.getRank(); ++dim)
    if (llvm::is_contained(op.getDimensions(), dim)) order.push_back(dim), count *= type.getDimSize(dim);
  Value moved = math.transpose(op.getInput(), order);
  Value rows = math.reshape(moved, {outer, count});
  Value one = math.splat(RankedTensorType::get({}, type.getElementType()), 1.0);
  auto multiplyOthers = [&](bool reverse) {
    // Of [0, count - 1) or [1, count), moved by one.
    Value part = math.slice(rows, {0, reverse ? 1 : 0}, {outer, reverse ? count : count - 1});
    Value products = math.create<CumulativeOp>(part.getType(), part, ReduceKind::Mul, 1, reverse);
    SmallVector<int64_t> none(2, 0), low{0, reverse ? 0 : 1}, high{0, reverse ? 1 : 0};
    return math.create<PadOp>(rows.getType(), products, one, low, high, none);
  };
  Value others =
      count > 1 ? math.multiply(multiplyOthers(false), multiplyOthers(true)) : math.splat(tensorType(rows), 1.0);
  Value back = math.transpose(math.reshape(others, shapeOf(moved)), invertPermutationVector(order));
  return math.multiply(back, repeat(math, g, op.getDimensions(), type.getShape()));
}

LogicalResult pullReduce(ReduceOp op, Value g, Pullback& p) {
  Value input = op.getInput();
  switch (op.getKind()) {
    case ReduceKind::Add:
      p.add(input, repeat(p.math, g, op.getDimensions(), shapeOf(input)));
      return success();
    case ReduceKind::Max:
    case ReduceKind::Min:
      p.add(input, pullFromExtremum(op, g, p));
      return success();
    case ReduceKind::Mul:
      if (tensorType(input).getNumElements() == 0) return success();
      p.add(input, pullFromProduct(op, g, p));
      return success();
    default:  // of integers
      return success();
  }
}

}  // namespace

void mlir::sgd::attachContractionDerivatives(MLIRContext& context) {
  attachDerivative<DotGeneralOp, pullDotGeneral>(context);
  attachDerivative<GroupedDotOp, pullGroupedDot>(context);
  attachDerivative<ConvolutionOp, pullConvolution>(context);
  attachDerivative<ReduceOp, pullReduce>(context);
}
