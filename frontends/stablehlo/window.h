// The windows of reduce_window and select_and_scatter.
#ifndef SGD_FRONTENDS_STABLEHLO_WINDOW_H
#define SGD_FRONTENDS_STABLEHLO_WINDOW_H

#include "frontends/stablehlo/op_lowering.h"

namespace mlir::sgd {

/// A window's attributes, one entry per dimension; absent ones are filled in.
struct Window {
  SmallVector<int64_t> sizes, strides, baseDilations, dilations, low, high;

  Window(ArrayRef<int64_t> sizes, std::optional<ArrayRef<int64_t>> strides,
         std::optional<ArrayRef<int64_t>> baseDilations, std::optional<ArrayRef<int64_t>> dilations,
         std::optional<DenseIntElementsAttr> padding, int64_t rank)
      : sizes(sizes), low(rank, 0), high(rank, 0) {
    auto orOnes = [&](std::optional<ArrayRef<int64_t>> list) {
      return list ? llvm::to_vector(*list) : SmallVector<int64_t>(rank, 1);
    };
    this->strides = orOnes(strides);
    this->baseDilations = orOnes(baseDilations);
    this->dilations = orOnes(dilations);
    if (!padding) return;
    for (auto [i, amount] : llvm::enumerate(padding->getValues<int64_t>())) (i % 2 ? high : low)[i / 2] = amount;
  }
  /// Whether it has an entry for each dimension of `type`, and no size, stride or dilation below 1.
  bool fits(RankedTensorType type) const {
    auto rank = static_cast<size_t>(type.getRank());
    return low.size() == rank &&
           llvm::all_of(
               std::initializer_list<const SmallVector<int64_t>*>{&sizes, &strides, &baseDilations, &dilations},
               [&](auto* list) {
                 return list->size() == rank && llvm::all_of(*list, [](int64_t v) { return v > 0; });
               });
  }
};

/// The operand with its padding and base dilation made explicit.
Value padOperand(OpLowering& l, Value operand, Value padding, const Window& window);

/// Values of one shape that are reduced together.
using Tuple = SmallVector<Value, 2>;
/// The tuple that two others give, element by element; fails with a diagnostic.
using CombineTuples = llvm::function_ref<FailureOr<Tuple>(ArrayRef<Value> left, ArrayRef<Value> right)>;

/// All windows of `padded`, combined into `shape`, which is not empty. `combine` is associative.
FailureOr<Tuple> combineWindows(OpLowering& l, Tuple padded, const Window& window, ArrayRef<int64_t> shape,
                                CombineTuples combine);
Value combineWindows(OpLowering& l, Value padded, const Window& window, ArrayRef<int64_t> shape, ReduceKind kind);

/// Windows along one dimension that reach from each element to the first (or to the last) one, as JAX prints cumulative
/// sum: sgd.cumulative of `input`. Else null.
Value lowerCumulative(OpLowering& l, Value input, const Window& window, ReduceKind kind);

/// Calls visit(offsets) for every position in a window, row-major.
void forEachPosition(ArrayRef<int64_t> sizes, llvm::function_ref<void(ArrayRef<int64_t>)> visit);

}  // namespace mlir::sgd

#endif
