// Tensors of attention in blocks of positions, one for each rank of a ring: a dimension of ranks, then positions in a
// block.
#ifndef SGD_PASSES_SHARDING_CONTEXT_RING_LAYOUT_H
#define SGD_PASSES_SHARDING_CONTEXT_RING_LAYOUT_H

#include "passes/graph/attention/attention_pattern.h"
#include "passes/graph/expressions/tensor_math.h"

namespace mlir::sgd {

/// The ranks over which positions are sharded, major to minor.
struct ContextAxes {
  FlatSymbolRefAttr mesh;
  SmallVector<AxisRefAttr, 2> axes;
  int64_t ranks = 1;
  bool isStriped = false;  ///< a rank's block is every nth position, not one after the other
};

/// The label of the dimension with one index per rank; other labels are dimensions of the exponentials, or kOwnLabel.
inline constexpr int64_t kRanks = -3;

class RingLayout {
 public:
  RingLayout(const AttentionPattern& pattern, ContextAxes context);

  int64_t getRanks() const { return context.ranks; }
  bool isStriped() const { return context.isStriped; }
  int64_t getRow() const { return row; }
  int64_t getColumn() const { return column; }
  /// Positions; those of the last blocks may be more than there are.
  int64_t getPositions(int64_t dim) const { return shape[dim]; }
  int64_t getBlockSize(int64_t dim) const { return llvm::divideCeil(shape[dim], context.ranks); }
  bool isPadded(int64_t dim) const { return getBlockSize(dim) * context.ranks != shape[dim]; }

  /// Labels of a tensor with these dimensions in blocks, in their one order: batch dimensions of keys, ranks, other
  /// batch dimensions, positions of queries, of keys, depth.
  SmallVector<int64_t> getLabels(ArrayRef<int64_t> dims) const;
  /// Labels of scores, of what queries have each, of queries, and of keys.
  SmallVector<int64_t> getScoreLabels() const;
  SmallVector<int64_t> getRowLabels() const;
  SmallVector<int64_t> getQueryLabels() const;
  SmallVector<int64_t> getKeyLabels() const;
  SmallVector<int64_t> getShape(ArrayRef<int64_t> labels, int64_t depth = 1) const;

  /// A whole tensor in blocks; what is behind its last position is zero.
  LabelledValue toBlocks(TensorMath& math, const LabelledValue& whole) const;
  /// And back, with dimensions in the order of `labels`.
  Value fromBlocks(TensorMath& math, const LabelledValue& blocks, ArrayRef<int64_t> labels) const;
  /// Each rank has its own index of the dimension of ranks.
  LabelledValue constrain(TensorMath& math, const LabelledValue& blocks) const;

 private:
  int64_t getOrder(int64_t label) const;

  SmallVector<int64_t> shape;  // of the exponentials
  SmallVector<int64_t> keyDims;
  int64_t row, column;
  ContextAxes context;
};

}  // namespace mlir::sgd

#endif
