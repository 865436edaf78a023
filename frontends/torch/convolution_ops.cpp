// Convolutions: batches, if any, channels, then any number of spatial dimensions.
#include "frontends/torch/aten_op.h"

using namespace mlir;
using namespace mlir::sgd;
using namespace mlir::sgd::torch;

SmallVector<int64_t> mlir::sgd::torch::getPerDim(AtenOp& op, StringRef name, int64_t rank, int64_t otherwise) {
  SmallVector<int64_t> numbers = op.integers(name);
  if (numbers.empty()) numbers.push_back(otherwise);
  while (static_cast<int64_t>(numbers.size()) < rank) numbers.push_back(numbers.back());
  return numbers;
}

namespace {

/// The result's type with a batch.
RankedTensorType getBatchedType(AtenOp& op) {
  SmallVector<int64_t> shape(op.type().getShape());
  if (op.type().getRank() < tensorType(op.tensor("weight")).getRank()) shape.insert(shape.begin(), 1);
  return op.type().clone(shape);
}

Value getBatchedInput(AtenOp& op) {
  Value input = op.convert(op.tensor("input"), op.element());
  SmallVector<int64_t> shape(shapeOf(input));
  if (tensorType(input).getRank() < tensorType(op.tensor("weight")).getRank()) shape.insert(shape.begin(), 1);
  return op.math.reshape(input, shape);
}

/// A convolution, or the transposed one, in the layout of the graph: [N, s.., G, C] and [k.., G, C, O].
class Convolution {
 public:
  Convolution(AtenOp& op, bool isTransposed)
      : op(op),
        math(op.math),
        type(getBatchedType(op)),
        isTransposed(isTransposed),
        rank(type.getRank() - 2),
        groups(op.integer("groups", 1)),
        strides(getPerDim(op, "stride", rank, 1)),
        padding(getPerDim(op, "padding", rank, 0)),
        dilations(getPerDim(op, "dilation", rank, 1)),
        extra(getPerDim(op, "output_padding", rank, 0)) {}

  Value write() {
    Value images = toImages(getBatchedInput(op));
    Value kernel = toKernel(op.convert(op.tensor("weight"), op.element()));
    SmallVector<int64_t> low(padding), high(padding), ones(rank, 1);
    ArrayRef<int64_t> sizes = shapeOf(kernel).take_front(rank);
    if (op.text("padding", "") == "same")
      for (int64_t dim = 0; dim < rank; ++dim) {
        int64_t total = (sizes[dim] - 1) * dilations[dim];
        low[dim] = total / 2;
        high[dim] = total - low[dim];
      }
    if (isTransposed)
      for (int64_t dim = 0; dim < rank; ++dim) {
        low[dim] = (sizes[dim] - 1) * dilations[dim] - padding[dim];
        high[dim] = low[dim] + extra[dim];
      }
    SmallVector<int64_t> shape{type.getDimSize(0)};
    for (int64_t dim = 0; dim < rank; ++dim) shape.push_back(type.getDimSize(dim + 2));
    shape.append({groups, type.getDimSize(1) / groups});
    Value result = math.create<ConvolutionOp>(type.clone(shape), images, kernel, isTransposed ? ones : strides, low,
                                              high, isTransposed ? strides : ones, dilations, /*tf32=*/false);
    return math.reshape(addBias(toChannels(result)), op.type().getShape());
  }

 private:
  /// [N, C, s..] to [N, s.., G, C / G].
  Value toImages(Value input) {
    SmallVector<int64_t> order{0}, shape;
    for (int64_t dim = 0; dim < rank; ++dim) order.push_back(dim + 2);
    order.push_back(1);
    Value moved = math.transpose(input, order);
    shape.assign(shapeOf(moved).begin(), shapeOf(moved).end());
    shape.back() /= groups;
    shape.insert(shape.end() - 1, groups);
    return math.reshape(moved, shape);
  }

  /// [G O, C, k..], or [G C, O, k..] of a transposed convolution, to [k.., G, C, O].
  Value toKernel(Value weight) {
    SmallVector<int64_t> shape(shapeOf(weight)), order;
    shape.front() /= groups;
    shape.insert(shape.begin(), groups);
    Value grouped = math.reshape(weight, shape);
    for (int64_t dim = 0; dim < rank; ++dim) order.push_back(dim + 3);
    if (isTransposed)
      order.append({0, 1, 2});
    else
      order.append({0, 2, 1});
    Value kernel = math.transpose(grouped, order);
    if (!isTransposed) return kernel;
    return math.create<ReverseOp>(kernel.getType(), kernel, llvm::to_vector(llvm::seq<int64_t>(0, rank)));
  }

  Value toChannels(Value result) {
    SmallVector<int64_t> shape(shapeOf(result)), order{0, rank + 1};
    shape.pop_back();
    shape.back() = type.getDimSize(1);
    for (int64_t dim = 0; dim < rank; ++dim) order.push_back(dim + 1);
    return math.transpose(math.reshape(result, shape), order);
  }

  Value addBias(Value result) {
    Value bias = op.tensor("bias");
    return bias ? math.add(result, math.broadcast(op.convert(bias, op.element()), 1, type.getShape())) : result;
  }

  AtenOp& op;
  TensorMath& math;
  RankedTensorType type;
  bool isTransposed;
  int64_t rank, groups;
  SmallVector<int64_t> strides, padding, dilations, extra;
};

LogicalResult checkConvolution(AtenOp& op) {
  int64_t groups = op.integer("groups", 1);
  Value input = getBatchedInput(op), weight = op.tensor("weight");
  RankedTensorType type = getBatchedType(op);
  int64_t rank = type.getRank();
  bool fits = rank >= 3 && tensorType(input).getRank() == rank && tensorType(weight).getRank() == rank && groups >= 1 &&
              type.getDimSize(1) % groups == 0 && shapeOf(input)[1] % groups == 0 && shapeOf(weight)[0] % groups == 0;
  if (fits) return success();
  return op.error() << "has operands that do not fit; expected batches, channels that the groups divide, and spatial "
                       "dimensions; export the model anew";
}

template <bool isTransposed>
LogicalResult lowerConvolution(AtenOp& op) {
  if (failed(checkConvolution(op))) return failure();
  bool isSame = op.text("padding", "") == "same" || op.text("padding", "") == "valid";
  if (!isSame && !op.text("padding", "").empty())
    return op.error() << "has the padding '" << op.text("padding", "") << "'; expected numbers, 'same' or 'valid'";
  return op.finish(Convolution(op, isTransposed).write());
}

/// aten.convolution says by a flag which one it is.
LogicalResult lowerAnyConvolution(AtenOp& op) {
  if (failed(checkConvolution(op))) return failure();

  return op.finish(Convolution(op, op.flag("transposed", false)).write());
}

}  // namespace

void mlir::sgd::torch::addConvolutionOps(OpTable& table) {
  enter(table,
        {"conv1d.default", "conv2d.default", "conv3d.default", "conv1d.padding", "conv2d.padding", "conv3d.padding"},
        {lowerConvolution<false>, {"input", "weight"}});
  enter(table, {"conv_transpose1d.default", "conv_transpose2d.input", "conv_transpose3d.input"},
        {lowerConvolution<true>, {"input", "weight"}});
  enter(table, {"convolution.default", "_convolution.default"}, {lowerAnyConvolution, {"input", "weight"}});
}
