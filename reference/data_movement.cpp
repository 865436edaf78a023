// Ops that move elements without computing on them.
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "reference/ops.h"

using namespace mlir;
using namespace mlir::sgd;
using namespace mlir::sgd::reference;

namespace {

int64_t clampStart(int64_t start, int64_t size, int64_t bound) {
  return std::clamp<int64_t>(start, 0, std::max<int64_t>(0, bound - size));
}

/// An element of an operand.
struct Source {
  const Tensor* tensor;
  Index index;
};

/// Adds an op each element of whose result is one of an operand: `find` says which, from the result and an index into
/// it.
template <typename Op>
void addMovement(Evaluations& evaluations, Source (*find)(Op, Operands, const Tensor&, ArrayRef<int64_t>)) {
  evaluations.add<Op>([find](Op op, Operands in, Results out) {
    forEachIndex(out[0]->shape(), [&](ArrayRef<int64_t> index, int64_t at) {
      Source source = find(op, in, *out[0], index);
      out[0]->copy(at, *source.tensor, flatten(source.index, source.tensor->shape()));
    });
  });
}

Source findBroadcast(BroadcastInDimOp op, Operands in, const Tensor&, ArrayRef<int64_t> index) {
  Index from(in[0]->rank(), 0);
  for (auto [dim, to] : llvm::enumerate(op.getDims())) from[dim] = in[0]->type.getDimSize(dim) == 1 ? 0 : index[to];
  return {in[0], from};
}

Source findTransposed(TransposeOp op, Operands in, const Tensor&, ArrayRef<int64_t> index) {
  Index from(in[0]->rank(), 0);
  for (auto [to, dim] : llvm::enumerate(op.getPermutation())) from[dim] = index[to];
  return {in[0], from};
}

Source findSliced(SliceOp op, Operands in, const Tensor&, ArrayRef<int64_t> index) {
  Index from(index);
  for (size_t dim = 0; dim < from.size(); ++dim) from[dim] = op.getStarts()[dim] + index[dim] * op.getStrides()[dim];
  return {in[0], from};
}

Source findReversed(ReverseOp op, Operands in, const Tensor&, ArrayRef<int64_t> index) {
  Index from(index);
  for (int64_t dim : op.getDimensions()) from[dim] = in[0]->type.getDimSize(dim) - 1 - index[dim];
  return {in[0], from};
}

Source findConcatenated(ConcatenateOp op, Operands in, const Tensor&, ArrayRef<int64_t> index) {
  auto dim = static_cast<int64_t>(op.getDimension());
  Index from(index);
  unsigned operand = 0;
  while (from[dim] >= in[operand]->type.getDimSize(dim)) from[dim] -= in[operand++]->type.getDimSize(dim);
  return {in[operand], from};
}

Source findDynamicallySliced(DynamicSliceOp, Operands in, const Tensor& out, ArrayRef<int64_t> index) {
  Index from(index);
  for (size_t dim = 0; dim < from.size(); ++dim)
    from[dim] += clampStart(in[1 + dim]->integers[0], out.type.getDimSize(dim), in[0]->type.getDimSize(dim));
  return {in[0], from};
}

Source findUpdated(DynamicUpdateSliceOp, Operands in, const Tensor& out, ArrayRef<int64_t> index) {
  const Tensor& update = *in[1];
  Index from(index);
  bool isInside = true;
  for (size_t dim = 0; dim < from.size(); ++dim) {
    from[dim] -= clampStart(in[2 + dim]->integers[0], update.type.getDimSize(dim), out.type.getDimSize(dim));
    isInside &= from[dim] >= 0 && from[dim] < update.type.getDimSize(dim);
  }
  return isInside ? Source{&update, from} : Source{in[0], Index(index)};
}

/// The elements of each operand in their order, for ops that change types alone.
template <typename Op>
void addIdentity(Evaluations& evaluations) {
  evaluations.add<Op>([](Op, Operands in, Results out) {
    for (auto [from, to] : llvm::zip(in, out)) {
      to->floats = from->floats;
      to->integers = from->integers;
    }
  });
}

void evaluateIota(IotaOp op, Operands, Results out) {
  forEachIndex(out[0]->shape(), [&](ArrayRef<int64_t> index, int64_t at) {
    int64_t position = index[op.getDimension()];
    out[0]->isFloat() ? out[0]->setFloat(at, static_cast<double>(position)) : out[0]->setInteger(at, position);
  });
}

/// The same bits as another type.
void evaluateBitcast(arith::BitcastOp, Operands in, Results out) {
  std::vector<char> bytes(getByteSize(in[0]->type));
  in[0]->toBytes(bytes);
  *out[0] = Tensor::fromBytes(out[0]->type, bytes);
}

void evaluatePad(PadOp op, Operands operands, Results results) {
  const Tensor &in = *operands[0], &value = *operands[1];
  Tensor& out = *results[0];
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

/// The first of the summands is the value, and others are zeros.
void evaluateSummands(SummandsOp, Operands in, Results out) {
  for (int64_t i = 0; i < in[0]->size(); ++i) out[0]->copy(i, *in[0], i);
}

}  // namespace

void reference::addMovements(Evaluations& evaluations) {
  addMovement<BroadcastInDimOp>(evaluations, findBroadcast);
  addMovement<TransposeOp>(evaluations, findTransposed);
  addMovement<SliceOp>(evaluations, findSliced);
  addMovement<ReverseOp>(evaluations, findReversed);
  addMovement<ConcatenateOp>(evaluations, findConcatenated);
  addMovement<DynamicSliceOp>(evaluations, findDynamicallySliced);
  addMovement<DynamicUpdateSliceOp>(evaluations, findUpdated);
  addIdentity<ReshapeOp>(evaluations);
  addIdentity<ReshardOp>(evaluations);
  addIdentity<ShardingConstraintOp>(evaluations);
  addIdentity<OptimizationBarrierOp>(evaluations);
  evaluations.add<PadOp>(evaluatePad);
  evaluations.add<SummandsOp>(evaluateSummands);
  evaluations.add<IotaOp>(evaluateIota);
  evaluations.add<arith::BitcastOp>(evaluateBitcast);
}
