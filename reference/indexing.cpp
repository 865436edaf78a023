// gather and scatter, element by element, as StableHLO's specification describes them.
#include "reference/ops.h"
#include "reference/scalar.h"

using namespace mlir;
using namespace mlir::sgd;
using namespace mlir::sgd::reference;

namespace {

/// The part of the attributes that gather and scatter share: how index vectors point into the operand.
struct IndexSpace {
  ArrayRef<int64_t> windowDims;   // of the result or the updates
  ArrayRef<int64_t> missingDims;  // of the operand: collapsed or inserted
  ArrayRef<int64_t> operandBatching, indexBatching;
  ArrayRef<int64_t> indexMap;  // component of an index vector -> operand dimension
  int64_t vectorDim;
  bool isUnsigned;

  /// An index into the result or the updates, cut into its parts.
  void split(ArrayRef<int64_t> index, Index& batch, Index& window) const {
    for (auto [dim, position] : llvm::enumerate(index))
      (llvm::is_contained(windowDims, static_cast<int64_t>(dim)) ? window : batch).push_back(position);
  }

  /// Start of the window of `batch` in the operand, as the indices say, unclamped.
  Index getStart(const Tensor& indices, ArrayRef<int64_t> batch, int64_t operandRank) const {
    Index start(operandRank, 0);
    for (auto [component, dim] : llvm::enumerate(indexMap)) {
      Index at(batch);
      if (vectorDim < indices.rank()) at.insert(at.begin() + vectorDim, component);
      start[dim] = read(indices, flatten(at, indices.shape()));
    }
    for (auto [operandDim, indexDim] : llvm::zip(operandBatching, indexBatching))
      start[operandDim] = batch[indexDim - (indexDim > vectorDim ? 1 : 0)];
    return start;
  }

  bool isWindowDim(int64_t operandDim) const {
    return !llvm::is_contained(missingDims, operandDim) && !llvm::is_contained(operandBatching, operandDim);
  }

 private:
  /// Unsigned values beyond the signed range are far outside of every operand.
  int64_t read(const Tensor& indices, int64_t at) const {
    int64_t value = indices.integers[at];
    if (!isUnsigned) return value;
    return static_cast<int64_t>(std::min<uint64_t>(asUnsigned(value, indices.element()), INT64_MAX / 2));
  }
};

}  // namespace

static void evaluateGather(GatherOp op, Operands operands, Results results) {
  const Tensor &in = *operands[0], &indices = *operands[1];
  Tensor& out = *results[0];
  IndexSpace space{op.getOffsetDims(),          op.getCollapsedSliceDims(),
                   op.getOperandBatchingDims(), op.getIndicesBatchingDims(),
                   op.getStartIndexMap(),       static_cast<int64_t>(op.getIndexVectorDim()),
                   op.getUnsignedIndices()};
  forEachIndex(out.shape(), [&](ArrayRef<int64_t> index, int64_t at) {
    Index batch, window;
    space.split(index, batch, window);
    Index from = space.getStart(indices, batch, in.rank());
    unsigned next = 0;
    for (int64_t dim = 0; dim < in.rank(); ++dim) {
      int64_t last = in.type.getDimSize(dim) - op.getSliceSizes()[dim];
      from[dim] = std::clamp<int64_t>(from[dim], 0, last) + (space.isWindowDim(dim) ? window[next++] : 0);
    }
    out.copy(at, in, flatten(from, in.shape()));
  });
}

static LogicalResult evaluateScatter(ScatterOp op, Operands operands, Results results) {
  const Tensor &in = *operands[0], &indices = *operands[1], &updates = *operands[2];
  Tensor& out = *results[0];
  IndexSpace space{op.getUpdateWindowDims(),         op.getInsertedWindowDims(),
                   op.getInputBatchingDims(),        op.getIndicesBatchingDims(),
                   op.getScatterDimsToOperandDims(), static_cast<int64_t>(op.getIndexVectorDim()),
                   op.getUnsignedIndices()};
  bool isSet = op.getKind() == ScatterKind::Set;
  ReduceKind kind = isSet ? ReduceKind::Add : static_cast<ReduceKind>(static_cast<int>(op.getKind()) - 1);
  FloatCombiner combineFloats = getFloatCombiner(kind);
  if (out.isFloat() && !combineFloats)
    return op.emitOpError("has no reference evaluation for floats; expected integers; convert the operands");
  out = in;
  forEachIndex(updates.shape(), [&](ArrayRef<int64_t> index, int64_t at) {
    Index batch, window;
    space.split(index, batch, window);
    Index to = space.getStart(indices, batch, in.rank());
    unsigned next = 0;
    // A window that is not inside is dropped as a whole.
    bool isInside = true;
    for (int64_t dim = 0; dim < in.rank(); ++dim) {
      bool isWindow = space.isWindowDim(dim);
      int64_t size = isWindow ? updates.type.getDimSize(op.getUpdateWindowDims()[next]) : 1;
      isInside &= to[dim] >= 0 && to[dim] + size <= in.type.getDimSize(dim);
      if (isWindow) to[dim] += window[next++];
    }
    if (!isInside) return;
    int64_t target = flatten(to, in.shape());
    if (isSet)
      out.copy(target, updates, at);
    else if (out.isFloat())
      out.setFloat(target, combineFloats(out.floats[target], updates.floats[at]));
    else
      out.integers[target] = combine(kind, out.integers[target], updates.integers[at], out.element());
  });
  return success();
}

void reference::addIndexing(Evaluations& evaluations) {
  evaluations.add<GatherOp>(evaluateGather);
  evaluations.add<ScatterOp>(evaluateScatter);
}
