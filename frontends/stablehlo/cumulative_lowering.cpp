// Recognises cumulative sums and the like among reductions over windows.
#include "frontends/stablehlo/window.h"

using namespace mlir;
using namespace mlir::sgd;

Value mlir::sgd::lowerCumulative(OpLowering& l, Value input, const Window& window, ReduceKind kind) {
  RankedTensorType type = tensorType(input);
  std::optional<int64_t> along;
  for (int64_t dim = 0; dim < type.getRank(); ++dim) {
    if (window.strides[dim] != 1 || window.dilations[dim] != 1 || window.baseDilations[dim] != 1) return Value();
    int64_t size = type.getDimSize(dim), before = window.low[dim], behind = window.high[dim];
    if (window.sizes[dim] == 1 && before == 0 && behind == 0) continue;
    bool isCumulative =
        window.sizes[dim] == size && size > 1 && before + behind == size - 1 && (before == 0 || behind == 0);
    if (!isCumulative || along) return Value();
    along = dim;
  }
  if (!along) return Value();
  return l.create<CumulativeOp>(type, input, kind, *along, /*reverse=*/window.low[*along] == 0);
}
