// Reductions over windows as slices that are combined element by element: one slice for each position in a window,
// dimension by dimension.
#include "frontends/stablehlo/window.h"

using namespace mlir;
using namespace mlir::sgd;

Value mlir::sgd::padOperand(OpLowering& l, Value operand, Value padding, const Window& window) {
  RankedTensorType type = tensorType(operand);
  SmallVector<int64_t> shape, interior;
  bool changes = false;
  for (int64_t dim = 0; dim < type.getRank(); ++dim) {
    interior.push_back(window.baseDilations[dim] - 1);
    int64_t size = type.getDimSize(dim);
    shape.push_back(window.low[dim] + size + std::max<int64_t>(size - 1, 0) * interior[dim] + window.high[dim]);
    changes |= shape[dim] != size || window.low[dim] != 0;
  }
  if (!changes) return operand;
  return l.create<PadOp>(type.clone(shape), operand, padding, window.low, window.high, interior);
}

void mlir::sgd::forEachPosition(ArrayRef<int64_t> sizes, llvm::function_ref<void(ArrayRef<int64_t>)> visit) {
  SmallVector<int64_t> offsets(sizes.size(), 0);
  while (true) {
    visit(offsets);
    int64_t dim = static_cast<int64_t>(sizes.size()) - 1;
    while (dim >= 0 && ++offsets[dim] == sizes[dim]) offsets[dim--] = 0;
    if (dim < 0) return;
  }
}

namespace {

/// Windows longer than this are combined by doubling: 1, 2, 4, ... neighbours at a time.
constexpr int64_t kLongWindow = 8;

/// `count` elements of each value along `dim`, from `first` on, `stride` apart.
Tuple takeEvery(OpLowering& l, ArrayRef<Value> values, int64_t dim, int64_t first, int64_t stride, int64_t count) {
  return llvm::map_to_vector<2>(values, [&](Value value) { return l.takeEvery(value, dim, first, stride, count); });
}

/// The combiner that `kind` is.
auto byKind(OpLowering& l, ReduceKind kind) {
  return [&l, kind](ArrayRef<Value> left, ArrayRef<Value> right) -> FailureOr<Tuple> {
    return Tuple{createCombiner(l.builder, l.loc, kind, left[0], right[0])};
  };
}

/// `values`' elements along `dim` from `width * dilation` on, behind those from 0 on: `width` neighbours and as many
/// more.
FailureOr<Tuple> doubleWidth(OpLowering& l, const Tuple& values, int64_t dim, int64_t distance, CombineTuples combine) {
  int64_t count = tensorType(values[0]).getDimSize(dim) - distance;
  return combine(takeEvery(l, values, dim, 0, 1, count), takeEvery(l, values, dim, distance, 1, count));
}

/// Each element combined with the `size - 1` ones that follow it at distances of `dilation` along `dim`.
FailureOr<Tuple> combineNeighbours(OpLowering& l, const Tuple& values, int64_t dim, int64_t size, int64_t dilation,
                                   CombineTuples combine) {
  int64_t length = tensorType(values[0]).getDimSize(dim);
  if (size <= kLongWindow) {
    int64_t count = length - (size - 1) * dilation;
    FailureOr<Tuple> result = takeEvery(l, values, dim, 0, 1, count);
    for (int64_t i = 1; i < size && succeeded(result); ++i)
      result = combine(*result, takeEvery(l, values, dim, i * dilation, 1, count));
    return result;
  }
  // The window is a sum of powers of two, the parts one after another.
  Tuple result, power = values;
  int64_t covered = 0;
  for (int64_t width = 1; width <= size; width *= 2) {
    if (size & width) {
      int64_t count = length - (covered + width - 1) * dilation;
      Tuple part = takeEvery(l, power, dim, covered * dilation, 1, count);
      FailureOr<Tuple> joined =
          result.empty() ? FailureOr<Tuple>(part) : combine(takeEvery(l, result, dim, 0, 1, count), part);
      if (failed(joined)) return failure();
      result = *joined;
      covered += width;
    }
    if (width * 2 > size) break;
    FailureOr<Tuple> doubled = doubleWidth(l, power, dim, width * dilation, combine);
    if (failed(doubled)) return failure();
    power = *doubled;
  }
  return result;
}

/// The windows of a few elements each, combined position by position, and only where a window begins.
FailureOr<Tuple> combineStrided(OpLowering& l, const Tuple& values, int64_t dim, const Window& window, int64_t count,
                                CombineTuples combine) {
  auto at = [&](int64_t position) {
    return takeEvery(l, values, dim, position * window.dilations[dim], window.strides[dim], count);
  };
  FailureOr<Tuple> result = at(0);
  for (int64_t i = 1; i < window.sizes[dim] && succeeded(result); ++i) result = combine(*result, at(i));
  return result;
}

}  // namespace

FailureOr<Tuple> mlir::sgd::combineWindows(OpLowering& l, Tuple padded, const Window& window, ArrayRef<int64_t> shape,
                                           CombineTuples combine) {
  for (int64_t dim = 0; dim < static_cast<int64_t>(shape.size()); ++dim) {
    int64_t size = window.sizes[dim];
    if (size == 1 && tensorType(padded[0]).getDimSize(dim) == shape[dim]) continue;
    bool isStrided = size <= kLongWindow && window.strides[dim] > 1;
    FailureOr<Tuple> combined = isStrided  ? combineStrided(l, padded, dim, window, shape[dim], combine)
                                : size > 1 ? combineNeighbours(l, padded, dim, size, window.dilations[dim], combine)
                                           : FailureOr<Tuple>(padded);
    if (failed(combined)) return failure();
    padded = isStrided ? *combined : takeEvery(l, *combined, dim, 0, window.strides[dim], shape[dim]);
  }
  return padded;
}

Value mlir::sgd::combineWindows(OpLowering& l, Value padded, const Window& window, ArrayRef<int64_t> shape,
                                ReduceKind kind) {
  return (*combineWindows(l, Tuple{padded}, window, shape, byKind(l, kind)))[0];
}
