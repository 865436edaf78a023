// PyTorch's own derivatives, which are in programs that were exported with their backward pass.
#include "frontends/torch/aten_op.h"

using namespace mlir;
using namespace mlir::sgd;
using namespace mlir::sgd::torch;

namespace {

/// Adds rows of gradients at the indices that a lookup has read.
LogicalResult lowerEmbeddingBackward(AtenOp& op) {
  if (op.flag("scale_grad_by_freq", false))
    return op.error() << "divides by frequencies, which is not supported; expected scale_grad_by_freq=False";
  Value gradient = op.tensor("grad_output"), indices = op.tensor("indices");
  int64_t count = tensorType(indices).getNumElements(), width = op.type().getRank() == 2 ? op.type().getDimSize(1) : 0;
  if (op.type().getRank() != 2 || tensorType(gradient).getNumElements() != count * width)
    return op.error() << "has operands that do not fit; export the model anew";
  Value rows = op.math.reshape(gradient, {count, width}), flat = op.math.reshape(indices, {count});
  Value isPadding = op.math.isEqual(flat, op.operand("padding_idx", tensorType(flat)));
  rows = op.math.select(op.math.broadcast(isPadding, 0, shapeOf(rows)), op.constant(tensorType(rows), 0), rows);
  Value places = op.math.broadcast(flat, 0, shapeOf(rows));
  return op.finish(scatterAlong(op.math, op.splat(0), places, rows, 0, ScatterKind::Add));
}

/// Adds gradients at the positions that the largest elements had in each picture.
LogicalResult lowerMaxPoolBackward(AtenOp& op) {
  Value gradient = op.tensor("grad_output"), indices = op.tensor("indices");
  if (op.type().getRank() < 2 || shapeOf(gradient) != shapeOf(indices) ||
      tensorType(gradient).getRank() != op.type().getRank())
    return op.error() << "has operands that do not fit; export the model anew";
  auto flatten = [](ArrayRef<int64_t> shape) {
    SmallVector<int64_t> flat(shape.drop_back(2));
    flat.push_back(shape[shape.size() - 2] * shape.back());
    return flat;
  };
  SmallVector<int64_t> from = flatten(shapeOf(gradient)), to = flatten(op.type().getShape());
  Value sum = scatterAlong(op.math, op.constant(op.type().clone(to), 0), op.math.reshape(indices, from),
                           op.math.reshape(gradient, from), static_cast<int64_t>(to.size()) - 1, ScatterKind::Add);
  return op.finish(op.math.reshape(sum, op.type().getShape()));
}

/// Each element's share of the averages it is in, dimension by dimension.
LogicalResult lowerAdaptiveAverageBackward(AtenOp& op) {
  Value gradient = op.convert(op.tensor("grad_output"), op.element());
  int64_t rank = op.type().getRank();
  if (rank < 2 || tensorType(gradient).getRank() != rank || !isa<FloatType>(op.element()))
    return op.error() << "has operands that do not fit; export the model anew";
  for (int64_t dim = rank - 2; dim < rank; ++dim) {
    int64_t windows = shapeOf(gradient)[dim], size = op.type().getDimSize(dim);
    if (windows < 1 || size < 1 || windows * size > (1 << 24))
      return op.error() << "has " << windows << " windows of " << size << " elements; expected fewer";
    SmallVector<double> shares(windows * size, 0);
    for (int64_t window = 0; window < windows; ++window) {
      int64_t begin = window * size / windows, end = llvm::divideCeil((window + 1) * size, windows);
      for (int64_t at = begin; at < end; ++at) shares[window * size + at] = 1 / static_cast<double>(end - begin);
    }
    Value matrix = op.math.reshape(op.vector(shares, op.element()), {windows, size});
    SmallVector<int64_t> shape(shapeOf(gradient));
    shape.erase(shape.begin() + dim);
    shape.push_back(size);
    Value product =
        op.math.create<DotGeneralOp>(op.type().clone(shape), gradient, matrix, ArrayRef<int64_t>{}, ArrayRef<int64_t>{},
                                     ArrayRef<int64_t>{dim}, ArrayRef<int64_t>{0}, /*tf32=*/false);
    auto order = llvm::to_vector(llvm::seq<int64_t>(0, rank - 1));
    order.insert(order.begin() + dim, rank - 1);
    gradient = op.math.transpose(product, order);
  }
  return op.finish(gradient);
}

/// rstd (g - mean g - x mean(g x)), where x is standardized, over `dims`.
Value pullStandardized(TensorMath& math, Value g, Value x, Value inverse, ArrayRef<int64_t> dims) {
  double count = 1;
  for (int64_t dim : dims) count *= static_cast<double>(shapeOf(g)[dim]);
  auto average = [&](Value value) {
    Value sum = reduceKeeping(math, value, ReduceKind::Add, dims);
    return stretch(math, math.divide(sum, math.splat(tensorType(sum), count)), shapeOf(g));
  };
  Value rest = math.subtract(math.subtract(g, average(g)), math.multiply(x, average(math.multiply(g, x))));
  return math.multiply(rest, stretch(math, inverse, shapeOf(g)));
}

Value standardizeBy(TensorMath& math, Value x, Value mean, Value inverse) {
  Value distance = math.subtract(x, stretch(math, mean, shapeOf(x)));
  return math.multiply(distance, stretch(math, inverse, shapeOf(x)));
}

/// The second and third result: sums over `dims` of g x and of g.
LogicalResult finishWeights(AtenOp& op, Value g, Value x, ArrayRef<int64_t> dims) {
  for (unsigned output = 1; output < op.getNumOutputs(); ++output) {
    if (!op.isPresent(output)) continue;
    Value sum = reduceKeeping(op.math, output == 1 ? op.math.multiply(g, x) : g, ReduceKind::Add, dims);
    (void)op.finish(op.convert(op.math.reshape(sum, op.type(output).getShape()), op.element(output)), output);
  }
  return success();
}

LogicalResult lowerLayerNormBackward(AtenOp& op) {
  Value g = op.tensor("grad_out"), input = op.tensor("input");
  int64_t rank = tensorType(input).getRank(), count = std::min<int64_t>(rank, op.integers("normalized_shape").size());
  auto dims = llvm::to_vector(llvm::seq<int64_t>(rank - count, rank)),
       others = llvm::to_vector(llvm::seq<int64_t>(0, rank - count));
  if (shapeOf(g) != shapeOf(input)) return op.error() << "has operands that do not fit; export the model anew";
  SmallVector<int64_t> perRow(shapeOf(input));
  for (int64_t dim : dims) perRow[dim] = 1;
  Value mean = op.math.reshape(op.tensor("mean"), perRow), inverse = op.math.reshape(op.tensor("rstd"), perRow);
  Value x = standardizeBy(op.math, input, mean, inverse), weighted = g;
  if (Value weight = op.tensor("weight")) weighted = op.math.multiply(g, op.math.broadcast(weight, dims, shapeOf(g)));
  if (op.isPresent(0)) (void)op.finish(pullStandardized(op.math, weighted, x, inverse, dims));
  return finishWeights(op, g, x, others);
}

LogicalResult lowerGroupNormBackward(AtenOp& op) {
  Value g = op.tensor("grad_out"), input = op.tensor("input");
  int64_t groups = op.integer("group", 1), batch = op.integer("N", 1), channels = op.integer("C", 1),
          size = op.integer("HxW", 1);
  bool fits = groups >= 1 && channels % std::max<int64_t>(groups, 1) == 0 && shapeOf(g) == shapeOf(input) &&
              tensorType(g).getNumElements() == batch * channels * size;
  if (!fits) return op.error() << "has operands that do not fit; export the model anew";
  SmallVector<int64_t> parts{batch, groups, channels / groups, size}, perGroup{batch, groups, 1, 1};
  auto split = [&](Value value) { return op.math.reshape(value, parts); };
  Value mean = op.math.reshape(op.tensor("mean"), perGroup), inverse = op.math.reshape(op.tensor("rstd"), perGroup);
  Value x = standardizeBy(op.math, split(input), mean, inverse), weighted = split(g);
  if (Value weight = op.tensor("weight")) {
    Value own = op.math.reshape(weight, {groups, channels / groups});
    weighted = op.math.multiply(weighted, op.math.broadcast(own, {1, 2}, parts));
  }
  if (op.isPresent(0)) {
    Value result = pullStandardized(op.math, weighted, x, inverse, {2, 3});
    (void)op.finish(op.math.reshape(result, op.type().getShape()));
  }
  return finishWeights(op, split(g), x, {0, 3});
}

/// Of a softmax, or its logarithm, whose result is `output`.
template <bool isLogarithm>
LogicalResult lowerSoftmaxBackward(AtenOp& op) {
  Value g = op.operand("grad_output", op.type()), y = op.operand("output", op.type());
  if (op.type().getRank() == 0) return op.finish(op.splat(0));
  int64_t dim = wrapDim(op.integer("dim", -1), op.type().getRank());
  Value product = isLogarithm ? g : op.math.multiply(g, y);
  Value sum = stretch(op.math, reduceKeeping(op.math, product, ReduceKind::Add, dim), op.type().getShape());
  if (isLogarithm) return op.finish(op.math.subtract(g, op.math.multiply(op.math.exponential(y), sum)));
  return op.finish(op.math.subtract(product, op.math.multiply(y, sum)));
}

LogicalResult lowerDropoutBackward(AtenOp& op) {
  Value kept = op.operand("mask", op.type());
  return op.finish(
      op.math.multiply(op.math.multiply(op.operand("grad_output", op.type()), kept), op.splat(op.number("scale", 1))));
}

}  // namespace

void mlir::sgd::torch::addDerivativeOps(OpTable& table) {
  enter(table, {"embedding_dense_backward.default"}, {lowerEmbeddingBackward, {"grad_output", "indices"}});
  enter(table, {"_softmax_backward_data.default"}, {lowerSoftmaxBackward<false>, {"grad_output", "output"}});
  enter(table, {"_log_softmax_backward_data.default"}, {lowerSoftmaxBackward<true>, {"grad_output", "output"}});
  enter(table, {"native_dropout_backward.default"}, {lowerDropoutBackward, {"grad_output", "mask"}});
  enter(table, {"max_pool2d_with_indices_backward.default"},
        {lowerMaxPoolBackward, {"grad_output", "self", "indices"}});
  enter(table, {"_adaptive_avg_pool2d_backward.default"}, {lowerAdaptiveAverageBackward, {"grad_output", "self"}});
  enter(table, {"native_layer_norm_backward.default"}, {lowerLayerNormBackward, {"grad_out", "input", "mean", "rstd"}});
  enter(table, {"native_group_norm_backward.default"}, {lowerGroupNormBackward, {"grad_out", "input", "mean", "rstd"}});
}
