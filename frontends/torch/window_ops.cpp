// Convolutions and pooling: batches, channels, then any number of spatial dimensions.
#include "frontends/torch/aten_op.h"

using namespace mlir;
using namespace mlir::sgd;
using namespace mlir::sgd::torch;

namespace {

/// One number per spatial dimension.
SmallVector<int64_t> getPerDim(AtenOp& op, StringRef name, int64_t rank, int64_t otherwise) {
  SmallVector<int64_t> numbers = op.integers(name);
  if (numbers.empty()) numbers.push_back(otherwise);
  while (static_cast<int64_t>(numbers.size()) < rank) numbers.push_back(numbers.back());
  return numbers;
}

/// A convolution, or the transposed one, in the layout of the graph: [N, s.., G, C] and [k.., G, C, O].
class Convolution {
 public:
  Convolution(AtenOp& op, bool isTransposed)
      : op(op),
        math(op.math),
        isTransposed(isTransposed),
        rank(op.type().getRank() - 2),
        groups(op.integer("groups", 1)),
        strides(getPerDim(op, "stride", rank, 1)),
        padding(getPerDim(op, "padding", rank, 0)),
        dilations(getPerDim(op, "dilation", rank, 1)),
        extra(getPerDim(op, "output_padding", rank, 0)) {}

  Value write() {
    Value images = toImages(op.convert(op.tensor("input"), op.element()));
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
    SmallVector<int64_t> shape{op.type().getDimSize(0)};
    for (int64_t dim = 0; dim < rank; ++dim) shape.push_back(op.type().getDimSize(dim + 2));
    shape.append({groups, op.type().getDimSize(1) / groups});
    Value result = math.create<ConvolutionOp>(op.type().clone(shape), images, kernel, isTransposed ? ones : strides,
                                              low, high, isTransposed ? strides : ones, dilations, /*tf32=*/false);
    return addBias(toChannels(result));
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
    shape.back() = op.type().getDimSize(1);
    for (int64_t dim = 0; dim < rank; ++dim) order.push_back(dim + 1);
    return math.transpose(math.reshape(result, shape), order);
  }

  Value addBias(Value result) {
    Value bias = op.tensor("bias");
    return bias ? math.add(result, math.broadcast(op.convert(bias, op.element()), 1, op.type().getShape())) : result;
  }

  AtenOp& op;
  TensorMath& math;
  bool isTransposed;
  int64_t rank, groups;
  SmallVector<int64_t> strides, padding, dilations, extra;
};

LogicalResult checkConvolution(AtenOp& op) {
  int64_t rank = op.type().getRank(), groups = op.integer("groups", 1);
  Value input = op.tensor("input"), weight = op.tensor("weight");
  bool fits = rank >= 3 && tensorType(input).getRank() == rank && tensorType(weight).getRank() == rank && groups >= 1 &&
              op.type().getDimSize(1) % groups == 0 && shapeOf(input)[1] % groups == 0 &&
              shapeOf(weight)[0] % groups == 0;
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

/// The elements of each window, one after the other.
class Pool {
 public:
  explicit Pool(AtenOp& op)
      : op(op),
        math(op.math),
        rank(op.integers("kernel_size").size() > 1 || op.type().getRank() < 4 ? op.type().getRank() - 2 : 2) {
    kernel = getPerDim(op, "kernel_size", rank, 1);
    strides = op.integers("stride").empty() ? kernel : getPerDim(op, "stride", rank, 1);
    padding = getPerDim(op, "padding", rank, 0);
    dilations = getPerDim(op, "dilation", rank, 1);
  }

  /// `combine` over all elements of the windows of `value`, of which margins are `fill`.
  template <typename Combine>
  Value reduce(Value value, double fill, Combine combine) {
    int64_t first = tensorType(value).getRank() - rank;
    ArrayRef<int64_t> result = op.type().getShape();
    Value padded = pad(value, fill, first);
    Value total;
    SmallVector<int64_t> at(rank, 0);
    for (bool isLeft = true; isLeft;) {
      Value element = takeEach(padded, first, at, result);
      total = total ? combine(total, element) : element;
      isLeft = false;
      for (int64_t dim = rank - 1; dim >= 0 && !isLeft; --dim) {
        isLeft = ++at[dim] < kernel[dim];
        if (!isLeft) at[dim] = 0;
      }
    }
    return total;
  }

  double getCount() const {
    double count = 1;
    for (int64_t size : kernel) count *= static_cast<double>(size);
    return count;
  }
  /// Windows of so many elements become as many slices.
  LogicalResult check() const {
    constexpr double kMost = 1024;
    auto isPositive = [](int64_t number) { return number > 0; };
    bool fits = llvm::all_of(kernel, isPositive) && llvm::all_of(strides, isPositive) &&
                llvm::all_of(dilations, isPositive) && getCount() <= kMost;
    if (fits) return success();
    return op.error() << "has windows of " << getCount() << " elements; expected 1 to " << kMost
                      << ", and positive strides; pool in several steps";
  }
  bool hasPadding() const {
    return llvm::any_of(padding, [](int64_t margin) { return margin != 0; });
  }

 private:
  /// Margins, and at the end as much as the last window needs.
  Value pad(Value value, double fill, int64_t first) {
    RankedTensorType type = tensorType(value);
    SmallVector<int64_t> low(type.getRank(), 0), high(low), none(low), shape(type.getShape());
    for (int64_t dim = 0; dim < rank; ++dim) {
      int64_t needed = (op.type().getDimSize(first + dim) - 1) * strides[dim] + (kernel[dim] - 1) * dilations[dim] + 1;
      low[first + dim] = padding[dim];
      high[first + dim] = std::max<int64_t>(0, needed - padding[dim] - shape[first + dim]);
      shape[first + dim] += low[first + dim] + high[first + dim];
    }
    if (shape == type.getShape()) return value;
    Value scalar = math.splat(RankedTensorType::get({}, type.getElementType()), fill);
    return math.create<PadOp>(type.clone(shape), value, scalar, low, high, none);
  }

  /// Element `at` of every window.
  Value takeEach(Value padded, int64_t first, ArrayRef<int64_t> at, ArrayRef<int64_t> result) {
    RankedTensorType type = tensorType(padded);
    SmallVector<int64_t> starts(type.getRank(), 0), limits(type.getShape()), steps(type.getRank(), 1);
    for (int64_t dim = 0; dim < rank; ++dim) {
      starts[first + dim] = at[dim] * dilations[dim];
      steps[first + dim] = strides[dim];
      limits[first + dim] = starts[first + dim] + (result[first + dim] - 1) * strides[dim] + 1;
    }
    return math.create<SliceOp>(type.clone(result), padded, starts, limits, steps);
  }

  AtenOp& op;
  TensorMath& math;
  int64_t rank;
  SmallVector<int64_t> kernel, strides, padding, dilations;
};

/// The operand has the result's dimensions, and more than `others`.
LogicalResult checkWindow(AtenOp& op, StringRef operand, int64_t others) {
  int64_t rank = op.type().getRank();
  if (rank > others && tensorType(op.tensor(operand)).getRank() == rank) return success();
  return op.error() << "has operands whose dimensions do not fit; expected batches, channels and spatial dimensions; "
                       "export the model anew";
}

LogicalResult lowerMaxPool(AtenOp& op) {
  if (failed(checkWindow(op, "self", 1))) return failure();
  if (op.getNumOutputs() > 1)
    return op.error() << "gives positions too, which is not supported; use max_pool without indices";
  Pool pool(op);
  if (failed(pool.check())) return failure();
  Value value = op.tensor("self");
  auto larger = [&](Value a, Value b) { return op.math.maximum(a, b); };
  return op.finish(pool.reduce(value, -std::numeric_limits<double>::infinity(), larger));
}

LogicalResult lowerAveragePool(AtenOp& op) {
  if (failed(checkWindow(op, "self", 1))) return failure();
  Pool pool(op);
  if (failed(pool.check())) return failure();
  if (pool.hasPadding() && (!op.flag("count_include_pad", true) || op.flag("ceil_mode", false)))
    return op.error() << "leaves margins out of its counts, which is not supported; expected count_include_pad=True "
                         "and ceil_mode=False";
  Value sum = pool.reduce(op.tensor("self"), 0, [&](Value a, Value b) { return op.math.add(a, b); });
  double divisor = op.has("divisor_override") ? op.number("divisor_override", 1) : pool.getCount();
  return op.finish(op.math.divide(sum, op.splat(divisor)));
}

/// Equal windows side by side.
template <ReduceKind kind>
LogicalResult lowerAdaptivePool(AtenOp& op) {
  if (op.getNumOutputs() > 1)
    return op.error() << "gives positions too, which is not supported; use adaptive_max_pool without indices";
  Value value = op.tensor("self");
  RankedTensorType type = tensorType(value);
  int64_t rank = op.integers("output_size").size(), first = type.getRank() - rank;
  if (failed(checkWindow(op, "self", rank))) return failure();
  SmallVector<int64_t> parts(type.getShape().take_front(first)), reduced;
  double count = 1;
  for (int64_t dim = first; dim < type.getRank(); ++dim) {
    int64_t size = type.getDimSize(dim), wanted = op.type().getDimSize(dim);
    if (wanted < 1 || size % wanted != 0)
      return op.error() << "makes " << wanted << " of " << size
                        << " elements, whose windows differ in size, which is not supported; expected a divisor; pad "
                           "or resize the operand";
    parts.push_back(wanted);
    reduced.push_back(parts.size());
    parts.push_back(size / wanted);
    count *= static_cast<double>(size / wanted);
  }
  Value result = op.math.reduce(op.math.reshape(value, parts), kind, reduced);
  return op.finish(kind == ReduceKind::Add ? op.math.divide(result, op.splat(count)) : result);
}

/// Nearest neighbours by whole factors.
LogicalResult lowerNearest(AtenOp& op) {
  Value value = op.tensor("self");
  RankedTensorType type = tensorType(value);
  SmallVector<int64_t> wide, dims;
  for (int64_t dim = 0; dim < type.getRank(); ++dim) {
    dims.push_back(wide.size());
    wide.push_back(type.getDimSize(dim));
    if (dim >= op.type().getRank() || type.getDimSize(dim) == 0)
      return op.error() << "has a result that does not fit; export the model anew";
    int64_t factor = op.type().getDimSize(dim) / type.getDimSize(dim);
    if (factor * type.getDimSize(dim) != op.type().getDimSize(dim))
      return op.error() << "resizes " << type.getDimSize(dim) << " to " << op.type().getDimSize(dim)
                        << " elements; expected a multiple";
    if (dim >= 2) wide.push_back(factor);
  }
  return op.finish(op.math.reshape(op.math.broadcast(value, dims, wide), op.type().getShape()));
}

}  // namespace

void mlir::sgd::torch::addWindowOps(OpTable& table) {
  auto add = [&](std::initializer_list<StringRef> names, const OpEntry& entry) {
    for (StringRef name : names) table[name] = entry;
  };
  add({"conv1d.default", "conv2d.default", "conv3d.default", "conv1d.padding", "conv2d.padding", "conv3d.padding"},
      {lowerConvolution<false>, {"input", "weight"}});
  add({"conv_transpose1d.default", "conv_transpose2d.input", "conv_transpose3d.input"},
      {lowerConvolution<true>, {"input", "weight"}});
  add({"convolution.default"}, {lowerAnyConvolution, {"input", "weight"}});
  add({"max_pool1d.default", "max_pool2d.default", "max_pool3d.default"}, lowerMaxPool);
  add({"avg_pool1d.default", "avg_pool2d.default", "avg_pool3d.default"}, lowerAveragePool);
  add({"adaptive_avg_pool1d.default", "adaptive_avg_pool2d.default", "_adaptive_avg_pool2d.default",
       "adaptive_avg_pool3d.default"},
      lowerAdaptivePool<ReduceKind::Add>);
  add({"adaptive_max_pool2d.default"}, lowerAdaptivePool<ReduceKind::Max>);
  add({"upsample_nearest1d.default", "upsample_nearest2d.default"}, lowerNearest);
}
