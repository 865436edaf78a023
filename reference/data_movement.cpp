// Ops that move elements without computing on them.
#include "reference/ops.h"

using namespace mlir;
using namespace mlir::sgd;
using namespace mlir::sgd::reference;

static int64_t clampStart(int64_t start, int64_t size, int64_t bound) {
  return std::clamp<int64_t>(start, 0, std::max<int64_t>(0, bound - size));
}

/// Where the element of `out` at `index` comes from: an operand and an index into it. Null for other ops.
static const Tensor* findSource(Operation* op, Operands in, const Tensor& out, ArrayRef<int64_t> index, Index& from) {
  const Tensor* source = in[0];
  if (auto broadcast = dyn_cast<BroadcastInDimOp>(op)) {
    for (auto [dim, to] : llvm::enumerate(broadcast.getDims()))
      from[dim] = source->type.getDimSize(dim) == 1 ? 0 : index[to];
    return source;
  }
  if (auto transpose = dyn_cast<TransposeOp>(op)) {
    for (auto [to, dim] : llvm::enumerate(transpose.getPermutation())) from[dim] = index[to];
    return source;
  }
  if (auto slice = dyn_cast<SliceOp>(op)) {
    for (size_t dim = 0; dim < from.size(); ++dim)
      from[dim] = slice.getStarts()[dim] + index[dim] * slice.getStrides()[dim];
    return source;
  }
  if (auto reverse = dyn_cast<ReverseOp>(op)) {
    from.assign(index.begin(), index.end());
    for (int64_t dim : reverse.getDimensions()) from[dim] = source->type.getDimSize(dim) - 1 - index[dim];
    return source;
  }
  if (auto concatenate = dyn_cast<ConcatenateOp>(op)) {
    from.assign(index.begin(), index.end());
    int64_t& along = from[concatenate.getDimension()];
    unsigned operand = 0;
    while (along >= in[operand]->type.getDimSize(concatenate.getDimension()))
      along -= in[operand++]->type.getDimSize(concatenate.getDimension());
    return in[operand];
  }
  if (isa<DynamicSliceOp>(op)) {
    for (size_t dim = 0; dim < from.size(); ++dim)
      from[dim] =
          index[dim] + clampStart(in[1 + dim]->integers[0], out.type.getDimSize(dim), source->type.getDimSize(dim));
    return source;
  }
  if (!isa<DynamicUpdateSliceOp>(op)) return nullptr;
  const Tensor& update = *in[1];
  bool isInside = true;
  for (size_t dim = 0; dim < from.size(); ++dim) {
    from[dim] =
        index[dim] - clampStart(in[2 + dim]->integers[0], update.type.getDimSize(dim), out.type.getDimSize(dim));
    isInside &= from[dim] >= 0 && from[dim] < update.type.getDimSize(dim);
  }
  if (isInside) return &update;
  from.assign(index.begin(), index.end());
  return source;
}

LogicalResult reference::evaluateMove(Operation* op, Operands in, Tensor& out) {
  if (isa<ReshapeOp, ReshardOp, ShardingConstraintOp>(op)) {
    out.floats = in[0]->floats;
    out.integers = in[0]->integers;
    return success();
  }
  if (auto iota = dyn_cast<IotaOp>(op)) {
    forEachIndex(out.shape(), [&](ArrayRef<int64_t> index, int64_t at) {
      int64_t position = index[iota.getDimension()];
      out.isFloat() ? out.setFloat(at, static_cast<double>(position)) : out.setInteger(at, position);
    });
    return success();
  }
  bool isKnown = true;
  forEachIndex(out.shape(), [&](ArrayRef<int64_t> index, int64_t at) {
    if (!isKnown) return;
    Index from(in[0]->rank(), 0);
    const Tensor* source = findSource(op, in, out, index, from);
    isKnown = source != nullptr;
    if (isKnown) out.copy(at, *source, flatten(from, source->shape()));
  });
  return success(isKnown);
}

void reference::evaluatePad(PadOp op, const Tensor& in, const Tensor& value, Tensor& out) {
  for (int64_t i = 0; i < out.size(); ++i) out.copy(i, value, 0);
  forEachIndex(in.shape(), [&](ArrayRef<int64_t> index, int64_t at) {
    Index to(index);
    bool isInside = true;
    for (size_t dim = 0; dim < to.size(); ++dim) {
      to[dim] = op.getLow()[dim] + index[dim] * (op.getInterior()[dim] + 1);
      isInside &= to[dim] >= 0 && to[dim] < out.type.getDimSize(dim);
    }
    if (isInside) out.copy(flatten(to, out.shape()), in, at);
  });
}
