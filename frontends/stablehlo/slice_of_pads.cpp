// A walk from the slice towards the operands, dimension by dimension as far as they are padded.
#include "frontends/stablehlo/slice_of_pads.h"

using namespace mlir;
using namespace mlir::sgd;

/// The pad with less of what it adds, of its operand cut along the dimensions that it leaves alone.
static Value sliceOfPad(OpLowering& l, PadOp pad, ArrayRef<int64_t> starts, ArrayRef<int64_t> limits) {
  RankedTensorType from = tensorType(pad.getInput()), to = tensorType(pad);
  SmallVector<int64_t> low(pad.getLow()), high(pad.getHigh()), shape, innerStarts(starts), innerLimits(limits);
  for (int64_t dim = 0; dim < to.getRank(); ++dim) {
    shape.push_back(limits[dim] - starts[dim]);
    if (low[dim] == 0 && high[dim] == 0 && pad.getInterior()[dim] == 0) continue;
    low[dim] -= starts[dim];
    high[dim] -= to.getDimSize(dim) - limits[dim];
    innerStarts[dim] = 0;
    innerLimits[dim] = from.getDimSize(dim);
  }
  Value inner = sliceOfPads(l, pad.getInput(), innerStarts, innerLimits);
  bool pads = false;
  for (int64_t dim = 0; dim < to.getRank(); ++dim)
    pads |= low[dim] != 0 || high[dim] != 0 || pad.getInterior()[dim] != 0;
  return pads ? l.create<PadOp>(to.clone(shape), inner, pad.getValue(), low, high, pad.getInterior()) : inner;
}

Value mlir::sgd::sliceOfPads(OpLowering& l, Value value, ArrayRef<int64_t> starts, ArrayRef<int64_t> limits) {
  bool isWhole =
      limits == tensorType(value).getShape() && llvm::all_of(starts, [](int64_t start) { return start == 0; });
  if (isWhole) return value;
  if (auto sum = value.getDefiningOp<arith::AddFOp>())
    return l.create<arith::AddFOp>(sliceOfPads(l, sum.getLhs(), starts, limits),
                                   sliceOfPads(l, sum.getRhs(), starts, limits));
  if (auto pad = value.getDefiningOp<PadOp>()) return sliceOfPad(l, pad, starts, limits);
  SmallVector<int64_t> shape, strides(starts.size(), 1);
  for (auto [start, limit] : llvm::zip(starts, limits)) shape.push_back(limit - start);
  return l.create<SliceOp>(tensorType(value).clone(shape), value, starts, limits, strides);
}
