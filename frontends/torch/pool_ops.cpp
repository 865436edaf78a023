// Pooling: any leading dimensions, then the spatial ones.
#include "frontends/torch/aten_op.h"

using namespace mlir;
using namespace mlir::sgd;
using namespace mlir::sgd::torch;

namespace {

/// Windows of so many elements become as many slices.
constexpr double kMostTaps = 1024;

/// Calls `visit` with each index of a tensor of these sizes, in row-major order.
template <typename Visit>
void forEachIndex(ArrayRef<int64_t> sizes, Visit visit) {
  SmallVector<int64_t> at(sizes.size(), 0);
  for (bool isLeft = true; isLeft;) {
    visit(ArrayRef<int64_t>(at));
    isLeft = false;
    for (auto dim = static_cast<int64_t>(sizes.size()) - 1; dim >= 0 && !isLeft; --dim) {
      isLeft = ++at[dim] < sizes[dim];
      if (!isLeft) at[dim] = 0;
    }
  }
}

/// The elements of each window, one after the other.
class Pool {
 public:
  Pool(AtenOp& op, StringRef operand, int64_t rank) : op(op), math(op.math), value(op.tensor(operand)), rank(rank) {
    kernel = getPerDim(op, "kernel_size", rank, 1);
    strides = op.integers("stride").empty() ? kernel : getPerDim(op, "stride", rank, 1);
    padding = getPerDim(op, "padding", rank, 0);
    dilations = getPerDim(op, "dilation", rank, 1);
    first = tensorType(value).getRank() - rank;
  }

  /// The windows of `sizes`, spatial ones, in the result.
  LogicalResult check(int64_t resultRank) const {
    auto isPositive = [](int64_t number) { return number > 0; };
    bool fits = llvm::all_of(kernel, isPositive) && llvm::all_of(strides, isPositive) &&
                llvm::all_of(dilations, isPositive) && getCount() <= kMostTaps &&
                llvm::all_of(padding, [](int64_t margin) { return margin >= 0; });
    if (!fits)
      return op.error() << "has windows of " << getCount() << " elements; expected 1 to " << kMostTaps
                        << ", and positive strides; pool in several steps";
    if (first >= 0 && resultRank == tensorType(value).getRank()) return success();
    return op.error() << "has operands whose dimensions do not fit; expected " << rank
                      << " spatial dimensions behind others; export the model anew";
  }

  double getCount() const {
    double count = 1;
    for (int64_t size : kernel) count *= static_cast<double>(size);
    return count;
  }

  /// Calls `visit` with each position in the windows and the elements of all windows there; margins are `fill`.
  /// Elements are taken dimension by dimension, so that gradients are put back that way: in fewer and smaller moves.
  template <typename Visit>
  void forEachTap(ArrayRef<int64_t> result, Value fill, Visit visit) {
    SmallVector<int64_t> at;
    visitTaps(pad(result, fill), at, result, visit);
  }

  bool hasMargins() const {
    return llvm::any_of(padding, [](int64_t margin) { return margin > 0; });
  }

  /// Per window, the number of its first element that is in no margin, among the elements of a window.
  Value getFirstInside(ArrayRef<int64_t> result, Type element) {
    Value sum;
    int64_t stride = 1;
    for (int64_t dim = rank - 1; dim >= 0; --dim) {
      SmallVector<double> numbers;
      for (int64_t window = 0; window < result[first + dim]; ++window) {
        int64_t outside = std::max<int64_t>(padding[dim] - window * strides[dim], 0);
        numbers.push_back(static_cast<double>(llvm::divideCeil(outside, dilations[dim]) * stride));
      }
      Value own = math.broadcast(op.vector(numbers, element), first + dim, result);
      sum = sum ? math.add(sum, own) : own;
      stride *= kernel[dim];
    }
    return sum;
  }

  /// The numbers that the average of each window divides by: elements of the window, margins included or not, those
  /// behind the margins not.
  Value getCounts(RankedTensorType result, bool countsMargins) {
    Value product = math.splat(result, 1.0);
    if (!isa<FloatType>(result.getElementType())) product = math.splat(result, int64_t{1});
    for (int64_t dim = 0; dim < rank; ++dim) {
      SmallVector<double> counts;
      int64_t size = shapeOf(value)[first + dim];
      for (int64_t at = 0; at < result.getDimSize(first + dim); ++at) {
        int64_t begin = at * strides[dim] - padding[dim], end = std::min(begin + kernel[dim], size + padding[dim]);
        if (!countsMargins) begin = std::max<int64_t>(begin, 0), end = std::min(end, size);
        counts.push_back(static_cast<double>(std::max<int64_t>(end - begin, 0)));
      }
      Value vector = op.convert(op.vector(counts, math.getBuilder().getF32Type()), result.getElementType());
      product = math.multiply(product, math.broadcast(vector, first + dim, result.getShape()));
    }
    return product;
  }

  /// Per window, the position of its element `at` among all elements of a picture; of a margin, the nearest element's.
  Value getPositions(ArrayRef<int64_t> at, ArrayRef<int64_t> result) {
    Value sum;
    int64_t stride = 1;
    for (int64_t dim = rank - 1; dim >= 0; --dim) {
      SmallVector<int64_t> positions;
      int64_t size = shapeOf(value)[first + dim];
      for (int64_t window = 0; window < result[first + dim]; ++window) {
        int64_t position = window * strides[dim] - padding[dim] + at[dim] * dilations[dim];
        positions.push_back(std::clamp<int64_t>(position, 0, std::max<int64_t>(size - 1, 0)) * stride);
      }
      Value own = math.broadcast(op.vector(positions), first + dim, result);
      sum = sum ? math.add(sum, own) : own;
      stride *= size;
    }
    return sum;
  }

 private:
  /// Margins, and at the end as much as the last window needs.
  Value pad(ArrayRef<int64_t> result, Value fill) {
    RankedTensorType type = tensorType(value);
    SmallVector<int64_t> low(type.getRank(), 0), high(low), none(low), shape(type.getShape());
    for (int64_t dim = 0; dim < rank; ++dim) {
      int64_t needed = (result[first + dim] - 1) * strides[dim] + (kernel[dim] - 1) * dilations[dim] + 1;
      low[first + dim] = padding[dim];
      high[first + dim] = std::max<int64_t>(0, needed - padding[dim] - shape[first + dim]);
      shape[first + dim] += low[first + dim] + high[first + dim];
    }
    if (shape == type.getShape()) return value;
    return math.create<PadOp>(type.clone(shape), value, fill, low, high, none);
  }

  template <typename Visit>
  void visitTaps(Value part, SmallVector<int64_t>& at, ArrayRef<int64_t> result, Visit visit) {
    auto dim = static_cast<int64_t>(at.size());
    if (dim == rank) return visit(ArrayRef<int64_t>(at), part);
    for (int64_t tap = 0; tap < kernel[dim]; ++tap) {
      int64_t begin = tap * dilations[dim], end = begin + (result[first + dim] - 1) * strides[dim] + 1;
      at.push_back(tap);
      visitTaps(takeSlice(math, part, first + dim, begin, end, strides[dim]), at, result, visit);
      at.pop_back();
    }
  }

  AtenOp& op;
  TensorMath& math;
  Value value;
  int64_t rank, first = 0;
  SmallVector<int64_t> kernel, strides, padding, dilations;
};

/// The largest element so far and its position.
struct Largest {
  Value value, position;

  void meet(TensorMath& math, Value other, Value otherPosition) {
    if (position) {
      Value isLarger = math.isLess(value, other);
      if (isa<FloatType>(tensorType(other).getElementType())) {
        Value isNan = math.create<arith::CmpFOp>(arith::CmpFPredicate::UNO, other, other);
        isLarger = math.create<arith::OrIOp>(isLarger, isNan);
      }
      value = math.select(isLarger, other, value);
      position = math.select(isLarger, otherPosition, position);
    } else {
      value = other, position = otherPosition;
    }
  }
};

/// With a second output: positions. As in PyTorch, the gradient goes to the first of equal elements and to the last
/// NaN: the result is selected by the element's number in the window, which has no gradient.
template <int64_t rank>
LogicalResult lowerMaxPool(AtenOp& op) {
  Pool pool(op, "self", rank);
  if (failed(pool.check(op.type().getRank()))) return failure();
  Value fill = op.extreme(RankedTensorType::get({}, op.element()), /*isLeast=*/true);
  ArrayRef<int64_t> result = op.type().getShape();
  OpBuilder& builder = op.math.getBuilder();
  RankedTensorType numbers = op.type().clone(pool.getCount() < 128 ? builder.getI8Type() : builder.getI32Type());
  auto own = [&](size_t tap) { return op.math.splat(numbers, static_cast<int64_t>(tap)); };
  SmallVector<Value> elements;
  SmallVector<SmallVector<int64_t>> places;
  Value least = op.extreme(op.type(), /*isLeast=*/true);
  Largest largest;
  if (pool.hasMargins()) largest = {least, pool.getFirstInside(result, numbers.getElementType())};
  pool.forEachTap(result, fill, [&](ArrayRef<int64_t> at, Value element) {
    largest.meet(op.math, element, own(elements.size()));
    elements.push_back(element);
    places.emplace_back(at);
  });
  Value value = least, position;
  for (auto [tap, element] : llvm::enumerate(elements)) {
    Value isOwn = op.math.isEqual(largest.position, own(tap));
    value = op.math.select(isOwn, element, value);
    if (op.getNumOutputs() < 2) continue;
    Value place = pool.getPositions(places[tap], result);
    position = position ? op.math.select(isOwn, place, position) : place;
  }
  (void)op.finish(value);
  return position ? op.finish(position, 1) : success();
}

template <int64_t rank>
LogicalResult lowerAveragePool(AtenOp& op) {
  Pool pool(op, "self", rank);
  if (failed(pool.check(op.type().getRank()))) return failure();
  Value fill = op.constant(RankedTensorType::get({}, op.element()), 0), sum;
  pool.forEachTap(op.type().getShape(), fill,
                  [&](ArrayRef<int64_t>, Value element) { sum = sum ? op.math.add(sum, element) : element; });
  Value divisor = op.has("divisor_override") ? op.splat(op.number("divisor_override", 1))
                                             : pool.getCounts(op.type(), op.flag("count_include_pad", true));
  return op.finish(isa<FloatType>(op.element()) ? op.math.divide(sum, divisor) : op.math.create<DivSIOp>(sum, divisor));
}

// Windows that cover a dimension
// -----------------------------------------------------------------------------------------------------------------

/// Windows of dimension `dim`: which elements the k-th one of each is. Shorter windows repeat their last element.
struct AdaptiveWindows {
  SmallVector<SmallVector<int64_t>> taps;  // per k, per window
  SmallVector<double> lengths;

  AdaptiveWindows(int64_t size, int64_t count) {
    SmallVector<int64_t> begins, ends;
    int64_t longest = 0;
    for (int64_t at = 0; at < count; ++at) {
      begins.push_back(at * size / count);
      ends.push_back(llvm::divideCeil((at + 1) * size, count));
      longest = std::max(longest, ends.back() - begins.back());
      lengths.push_back(static_cast<double>(ends.back() - begins.back()));
    }
    for (int64_t k = 0; k < longest; ++k) {
      taps.emplace_back();
      for (auto [begin, end] : llvm::zip(begins, ends)) taps.back().push_back(std::min(begin + k, end - 1));
    }
  }
};

/// Checks sizes and returns the windows of the last `rank` dimensions.
FailureOr<SmallVector<AdaptiveWindows>> getAdaptiveWindows(AtenOp& op, Value value, int64_t rank) {
  int64_t first = tensorType(value).getRank() - rank;
  SmallVector<AdaptiveWindows> windows;
  double taps = 1;
  if (first < 0 || op.type().getRank() != tensorType(value).getRank())
    return op.error() << "has operands whose dimensions do not fit; expected " << rank
                      << " spatial dimensions behind others; export the model anew";
  for (int64_t dim = first; dim < first + rank; ++dim) {
    int64_t size = shapeOf(value)[dim], count = op.type().getDimSize(dim);
    if (size < 1 || count < 1 || count > (1 << 20) || size > (1 << 20))
      return op.error() << "makes " << count << " of " << size << " elements; expected 1 to " << (1 << 20);
    windows.emplace_back(size, count);
    taps *= static_cast<double>(windows.back().taps.size());
  }
  if (taps > kMostTaps * kMostTaps)
    return op.error() << "has windows of " << taps << " elements; pool in several steps";
  return windows;
}

/// Equal windows side by side: dimensions of their own. Null if they are not equal.
Value splitWindows(AtenOp& op, Value value, int64_t rank, SmallVectorImpl<int64_t>& reduced) {
  RankedTensorType type = tensorType(value);
  int64_t first = type.getRank() - rank;
  SmallVector<int64_t> parts(type.getShape().take_front(first));
  for (int64_t dim = first; dim < type.getRank(); ++dim) {
    int64_t size = type.getDimSize(dim), wanted = op.type().getDimSize(dim);
    if (size % wanted != 0) return {};
    parts.push_back(wanted);
    reduced.push_back(static_cast<int64_t>(parts.size()));
    parts.push_back(size / wanted);
  }
  return op.math.reshape(value, parts);
}

template <int64_t rank>
LogicalResult lowerAdaptiveAverage(AtenOp& op) {
  Value value = op.tensor("self");
  FailureOr<SmallVector<AdaptiveWindows>> windows = getAdaptiveWindows(op, value, rank);
  if (failed(windows)) return failure();
  int64_t first = tensorType(value).getRank() - rank;
  SmallVector<int64_t> reduced;
  if (Value parts = splitWindows(op, value, rank, reduced)) {
    double count = static_cast<double>(tensorType(value).getNumElements()) /
                   static_cast<double>(std::max<int64_t>(1, op.type().getNumElements()));
    return op.finish(op.math.divide(op.math.reduce(parts, ReduceKind::Add, reduced), op.splat(count)));
  }
  // A window's average is that of its rows' averages.
  for (auto [number, own] : llvm::enumerate(*windows)) {
    int64_t dim = first + static_cast<int64_t>(number);
    Value sum;
    for (auto [k, tap] : llvm::enumerate(own.taps)) {
      Value element = takeAlong(op.math, value, op.vector(tap), dim);
      SmallVector<double> counts;
      for (double length : own.lengths) counts.push_back(static_cast<double>(k) < length ? 1 / length : 0);
      Value weight = op.math.broadcast(op.vector(counts, op.element()), dim, shapeOf(element));
      element = op.math.multiply(element, weight);
      sum = sum ? op.math.add(sum, element) : element;
    }
    value = sum;
  }
  return op.finish(value);
}

template <int64_t rank>
LogicalResult lowerAdaptiveMax(AtenOp& op) {
  Value value = op.tensor("self");
  FailureOr<SmallVector<AdaptiveWindows>> windows = getAdaptiveWindows(op, value, rank);
  if (failed(windows)) return failure();
  int64_t first = tensorType(value).getRank() - rank;
  // Of each row's window the largest element and its position, then of these.
  RankedTensorType numbers = tensorType(value).clone(op.math.getBuilder().getI64Type());
  Value position = op.math.splat(numbers, int64_t{0});
  for (int64_t dim = first; dim < first + rank; ++dim) {
    position = op.math.multiply(position, op.math.splat(numbers, numbers.getDimSize(dim)));
    position = op.math.add(position, op.count(numbers, dim));
  }
  for (int64_t number = rank - 1; number >= 0; --number) {
    Largest largest;
    for (ArrayRef<int64_t> tap : (*windows)[number].taps) {
      Value indices = op.vector(tap);
      largest.meet(op.math, takeAlong(op.math, value, indices, first + number),
                   takeAlong(op.math, position, indices, first + number));
    }
    value = largest.value, position = largest.position;
  }
  (void)op.finish(value);
  return op.getNumOutputs() > 1 ? op.finish(position, 1) : success();
}

/// Puts elements at positions of larger pictures, zeros elsewhere.
template <int64_t rank>
LogicalResult lowerMaxUnpool(AtenOp& op) {
  Value value = op.tensor("self"), index = op.tensor("indices");
  if (op.type().getRank() < rank || tensorType(index).getShape() != shapeOf(value) ||
      op.type().getRank() != tensorType(value).getRank())
    return op.error() << "has operands whose dimensions do not fit; export the model anew";
  auto flatten = [&](ArrayRef<int64_t> shape) {
    SmallVector<int64_t> flat(shape.drop_back(rank));
    int64_t size = 1;
    for (int64_t own : shape.take_back(rank)) size *= own;
    flat.push_back(size);
    return flat;
  };
  SmallVector<int64_t> from = flatten(shapeOf(value)), to = flatten(op.type().getShape());
  Value zeros = op.constant(op.type().clone(to), 0);
  Value written = scatterAlong(op.math, zeros, op.math.reshape(index, from), op.math.reshape(value, from),
                               static_cast<int64_t>(to.size()) - 1, ScatterKind::Set);
  return op.finish(op.math.reshape(written, op.type().getShape()));
}

// Columns of windows
// -----------------------------------------------------------------------------------------------------------------

/// The elements of each window as a column: [N, C * elements, windows].
LogicalResult lowerImageToColumns(AtenOp& op) {
  Pool pool(op, "self", 2);
  Value value = op.tensor("self");
  int64_t rank = tensorType(value).getRank();
  if (rank < 3 || failed(pool.check(rank)))
    return rank < 3 ? op.error() << "has an operand that is no picture; expected channels and two dimensions"
                    : failure();
  SmallVector<int64_t> windows(shapeOf(value)),
      kernel = getPerDim(op, "kernel_size", 2, 1), strides = getPerDim(op, "stride", 2, 1),
      padding = getPerDim(op, "padding", 2, 0), dilations = getPerDim(op, "dilation", 2, 1);
  for (int64_t dim = 0; dim < 2; ++dim)
    windows[rank - 2 + dim] =
        (windows[rank - 2 + dim] + 2 * padding[dim] - dilations[dim] * (kernel[dim] - 1) - 1) / strides[dim] + 1;
  SmallVector<int64_t> single(windows);
  single.insert(single.end() - 2, 1);
  SmallVector<Value> taps;
  pool.forEachTap(windows, op.constant(RankedTensorType::get({}, op.element()), 0),
                  [&](ArrayRef<int64_t>, Value element) { taps.push_back(op.math.reshape(element, single)); });
  return op.finish(op.math.reshape(op.math.concatenate(taps, rank - 2), op.type().getShape()));
}

/// Adds the elements of columns where the windows overlap.
LogicalResult lowerColumnsToImage(AtenOp& op) {
  Value value = op.tensor("self");
  SmallVector<int64_t> kernel = getPerDim(op, "kernel_size", 2, 1), strides = getPerDim(op, "stride", 2, 1),
                       padding = getPerDim(op, "padding", 2, 0), dilations = getPerDim(op, "dilation", 2, 1);
  SmallVector<int64_t> picture(op.type().getShape()), shape(picture), low(picture.size(), 0), high(low), interior(low);
  auto isPositive = [](int64_t number) { return number > 0; };
  auto first = static_cast<int64_t>(picture.size()) - 2;
  if (first < 1 || !llvm::all_of(kernel, isPositive) || !llvm::all_of(strides, isPositive) ||
      !llvm::all_of(dilations, isPositive) || kernel[0] * kernel[1] > kMostTaps)
    return op.error() << "has windows that do not fit; expected positive sizes and strides, and at most " << kMostTaps
                      << " elements";
  for (int64_t dim = 0; dim < 2; ++dim)
    shape[first + dim] =
        (picture[first + dim] + 2 * padding[dim] - dilations[dim] * (kernel[dim] - 1) - 1) / strides[dim] + 1;
  SmallVector<int64_t> parts(shape);
  parts.insert(parts.begin() + first, {kernel[0], kernel[1]});
  Value columns = op.math.reshape(value, parts), zero = op.constant(RankedTensorType::get({}, op.element()), 0), sum;
  forEachIndex(kernel, [&](ArrayRef<int64_t> at) {
    Value tap = takeSlice(op.math, takeSlice(op.math, columns, first, at[0], at[0] + 1), first + 1, at[1], at[1] + 1);
    tap = op.math.reshape(tap, shape);
    for (int64_t dim = 0; dim < 2; ++dim) {
      low[first + dim] = at[dim] * dilations[dim] - padding[dim];
      interior[first + dim] = strides[dim] - 1;
      high[first + dim] = picture[first + dim] - low[first + dim] - ((shape[first + dim] - 1) * strides[dim] + 1);
    }
    Value spread = op.math.create<PadOp>(op.type(), tap, zero, low, high, interior);
    sum = sum ? op.math.add(sum, spread) : spread;
  });
  return op.finish(sum);
}

}  // namespace

void mlir::sgd::torch::addPoolOps(OpTable& table) {
  enter(table, {"max_pool1d.default", "max_pool1d_with_indices.default"}, lowerMaxPool<1>);
  enter(table, {"max_pool2d.default", "max_pool2d_with_indices.default"}, lowerMaxPool<2>);
  enter(table, {"max_pool3d.default", "max_pool3d_with_indices.default"}, lowerMaxPool<3>);
  enter(table, {"avg_pool1d.default"}, lowerAveragePool<1>);
  enter(table, {"avg_pool2d.default"}, lowerAveragePool<2>);
  enter(table, {"avg_pool3d.default"}, lowerAveragePool<3>);
  enter(table, {"adaptive_avg_pool1d.default"}, lowerAdaptiveAverage<1>);
  enter(table, {"adaptive_avg_pool2d.default", "_adaptive_avg_pool2d.default"}, lowerAdaptiveAverage<2>);
  enter(table, {"adaptive_avg_pool3d.default", "_adaptive_avg_pool3d.default"}, lowerAdaptiveAverage<3>);
  enter(table, {"adaptive_max_pool1d.default"}, lowerAdaptiveMax<1>);
  enter(table, {"adaptive_max_pool2d.default"}, lowerAdaptiveMax<2>);
  enter(table, {"adaptive_max_pool3d.default"}, lowerAdaptiveMax<3>);
  enter(table, {"max_unpool2d.default"}, {lowerMaxUnpool<2>, {"self", "indices"}});
  enter(table, {"max_unpool3d.default"}, {lowerMaxUnpool<3>, {"self", "indices"}});
  enter(table, {"im2col.default"}, lowerImageToColumns);
  enter(table, {"col2im.default"}, lowerColumnsToImage);
}
