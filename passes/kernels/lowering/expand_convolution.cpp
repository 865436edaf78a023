// One slice of the padded lhs for each element of a window, or for each window; kernels read slices in place.
#include "passes/kernels/lowering/expand_convolution.h"

#include "dialects/sgd/tensor_type.h"

using namespace mlir;
using namespace mlir::sgd;

namespace {

/// More shifts than this would make kernels too long.
constexpr int64_t kMaxShifts = 64;
/// With more, devices are faster by walking over the windows of several groups at once, where these are contiguous.
constexpr int64_t kFewShifts = 16;

class Expander {
 public:
  Expander(OpBuilder& builder, ConvolutionOp op)
      : builder(builder), op(op), loc(op.getLoc()), spatial(op.getNumSpatialDims()) {
    element = getAccumulatorType(op.getType().getElementType());
    ArrayRef<int64_t> rhs = tensorType(op.getRhs()).getShape();
    taps.assign(rhs.begin(), rhs.begin() + spatial);
    ArrayRef<int64_t> shape = op.getType().getShape();
    windows.assign(shape.begin() + 1, shape.begin() + 1 + spatial);
    lhs = op.getLhs();
    place = llvm::to_vector(llvm::seq<int64_t>(0, spatial + 3));
    if (auto transpose = lhs.getDefiningOp<TransposeOp>()) {
      lhs = transpose.getInput();
      place.assign(transpose.getPermutation().begin(), transpose.getPermutation().end());
    }
  }

  Value run() {
    ArrayRef<int64_t> inputs = tensorType(op.getLhs()).getShape(), rhs = tensorType(op.getRhs()).getShape();
    bool hasGroups = rhs[spatial] > 1;
    if (hasGroups && inputs.back() == 1 && count(taps) <= getMostTaps()) return narrow(expandForward());
    if (hasGroups && inputs.front() == 1 && rhs.back() == 1 && count(windows) <= kMaxShifts)
      return narrow(expandByKernel());
    return {};
  }

 private:
  static int64_t count(ArrayRef<int64_t> sizes) {
    int64_t product = 1;
    for (int64_t size : sizes) product *= size;
    return product;
  }

  int64_t getMostTaps() {
    Type type = op.getType().getElementType();
    bool isWide = type == element && type.getIntOrFloatBitWidth() >= 32,
         hasOneOutput = op.getType().getShape().back() == 1;
    auto transpose = op->hasOneUse() ? dyn_cast<TransposeOp>(*op->user_begin()) : TransposeOp();
    bool keepsGroupsLast = !transpose || transpose.getPermutation().back() >= spatial + 1;
    return isWide && hasOneOutput && keepsGroupsLast ? kFewShifts : kMaxShifts;
  }

  Value widen(Value value) {
    RankedTensorType type = tensorType(value).clone(element);
    if (type == value.getType()) return value;
    if (isa<FloatType>(element)) return arith::ExtFOp::create(builder, loc, type, value);
    return arith::ExtSIOp::create(builder, loc, type, value);
  }

  Value narrow(Value value) {
    if (op.getType() == value.getType()) return value;
    if (isa<FloatType>(element)) return arith::TruncFOp::create(builder, loc, op.getType(), value);
    return arith::TruncIOp::create(builder, loc, op.getType(), value);
  }

  Value multiply(Value a, Value b) { return createCombiner(builder, loc, ReduceKind::Mul, a, b); }

  Value broadcast(Value value, ArrayRef<int64_t> shape, ArrayRef<int64_t> dims) {
    RankedTensorType type = tensorType(value).clone(shape);
    return type == value.getType() ? value : BroadcastInDimOp::create(builder, loc, type, value, dims).getResult();
  }

  Value reshape(Value value, ArrayRef<int64_t> shape) {
    RankedTensorType type = tensorType(value).clone(shape);
    return type == value.getType() ? value : ReshapeOp::create(builder, loc, type, value).getResult();
  }

  /// The lhs with its padding, in which no window reaches outside, with its dimensions in the order of memory.
  Value pad() {
    RankedTensorType type = tensorType(lhs);
    SmallVector<int64_t> low(type.getRank(), 0), high(low), interior(low), shape(type.getShape());
    bool changes = false;
    for (int64_t dim = 0; dim < spatial; ++dim) {
      int64_t at = place[dim + 1], dilation = op.getLhsDilations()[dim];
      low[at] = op.getLow()[dim], high[at] = op.getHigh()[dim], interior[at] = dilation - 1;
      changes |= low[at] != 0 || high[at] != 0 || interior[at] != 0;
      shape[at] = low[at] + high[at] + (shape[at] - 1) * dilation + 1;
    }
    if (!changes) return lhs;
    RankedTensorType scalar = RankedTensorType::get({}, type.getElementType());
    Value zero = arith::ConstantOp::create(builder, loc, scalar, cast<TypedAttr>(builder.getZeroAttr(scalar)));
    return PadOp::create(builder, loc, type.clone(shape), lhs, zero, low, high, interior);
  }

  /// Elements first, first + step, ... of each spatial dimension, `counts` of them.
  Value takeEvery(Value padded, ArrayRef<int64_t> first, ArrayRef<int64_t> steps, ArrayRef<int64_t> counts) {
    SmallVector<int64_t> shape(tensorType(padded).getShape()), starts(shape.size(), 0), limits(shape),
        strides(shape.size(), 1);
    for (int64_t dim = 0; dim < spatial; ++dim) {
      int64_t at = place[dim + 1];
      starts[at] = first[dim], strides[at] = steps[dim], shape[at] = counts[dim];
      limits[at] = first[dim] + (counts[dim] - 1) * steps[dim] + 1;
    }
    return SliceOp::create(builder, loc, tensorType(padded).clone(shape), padded, starts, limits, strides);
  }

  Value transpose(Value value, ArrayRef<int64_t> order) {
    if (llvm::equal(order, llvm::seq<int64_t>(0, order.size()))) return value;
    auto shape = llvm::map_to_vector(order, [&](int64_t dim) { return tensorType(value).getDimSize(dim); });
    return TransposeOp::create(builder, loc, tensorType(value).clone(shape), value, order);
  }

  /// Calls visit(index) for each index below `sizes`, row-major.
  static void forEach(ArrayRef<int64_t> sizes, llvm::function_ref<void(ArrayRef<int64_t>)> visit) {
    SmallVector<int64_t> index(sizes.size(), 0);
    while (true) {
      visit(index);
      int64_t dim = static_cast<int64_t>(sizes.size()) - 1;
      while (dim >= 0 && ++index[dim] == sizes[dim]) index[dim--] = 0;
      if (dim < 0) return;
    }
  }

  static SmallVector<int64_t> scale(ArrayRef<int64_t> index, ArrayRef<int64_t> by) {
    return llvm::map_to_vector(llvm::zip(index, by), [](auto pair) { return std::get<0>(pair) * std::get<1>(pair); });
  }

  /// [N, s.., G, 1] and [k.., G, 1, O] to [N, o.., G, O].
  Value expandForward() {
    Value padded = pad(), sum;
    ArrayRef<int64_t> shape = op.getType().getShape();
    int64_t rank = shape.size();
    auto all = llvm::to_vector(llvm::seq<int64_t>(0, rank));
    forEach(taps, [&](ArrayRef<int64_t> tap) {
      Value part = takeEvery(padded, scale(tap, op.getRhsDilations()), op.getStrides(), windows);
      part = widen(transpose(part, place));
      SmallVector<int64_t> starts(tap), limits, strides(rank, 1), kernel(spatial, 1);
      for (int64_t at : tap) limits.push_back(at + 1);
      starts.append(3, 0);
      ArrayRef<int64_t> features = tensorType(op.getRhs()).getShape().drop_front(spatial);
      llvm::append_range(limits, features);
      llvm::append_range(kernel, features);
      Value weight =
          SliceOp::create(builder, loc, tensorType(op.getRhs()).clone(kernel), op.getRhs(), starts, limits, strides);
      weight = widen(reshape(weight, {features[0], features[2]}));
      Value term = multiply(broadcast(part, shape, all), broadcast(weight, shape, {rank - 2, rank - 1}));
      sum = sum ? createCombiner(builder, loc, ReduceKind::Add, sum, term) : term;
    });
    return sum;
  }

  /// [1, s.., G, C] and [k.., G, C, 1] to [1, o.., G, 1]. The rhs takes the lhs's order of dimensions.
  Value expandByKernel() {
    Value padded = pad();
    int64_t rank = spatial + 3, groups = op.getType().getDimSize(spatial + 1);
    SmallVector<int64_t> order(rank), summed;
    for (int64_t dim = 0; dim < rank; ++dim) order[place[dim]] = dim == 0 ? rank - 1 : dim - 1;
    Value rhs = widen(transpose(op.getRhs(), order));
    for (int64_t dim = 0; dim < rank; ++dim)
      if (dim != place[spatial + 1]) summed.push_back(dim);
    SmallVector<Value> rows;
    forEach(windows, [&](ArrayRef<int64_t> window) {
      Value part = takeEvery(padded, scale(window, op.getStrides()), op.getRhsDilations(), taps);
      Value sum = ReduceOp::create(builder, loc, RankedTensorType::get({groups}, element), multiply(widen(part), rhs),
                                   ReduceKind::Add, summed);
      rows.push_back(reshape(sum, {1, groups}));
    });
    RankedTensorType joined = RankedTensorType::get({static_cast<int64_t>(rows.size()), groups}, element);
    Value result = rows.size() == 1 ? rows.front()
                                    : ConcatenateOp::create(builder, loc, joined, rows, builder.getI64IntegerAttr(0));
    return reshape(result, op.getType().getShape());
  }

  OpBuilder& builder;
  ConvolutionOp op;
  Location loc;
  int64_t spatial;
  Type element;  // of sums
  SmallVector<int64_t> taps, windows;
  Value lhs;                   // as it lies in memory:
  SmallVector<int64_t> place;  // dimension i of the op's lhs is dimension place[i]
};

}  // namespace

Value mlir::sgd::expandConvolution(OpBuilder& builder, ConvolutionOp op) { return Expander(builder, op).run(); }
