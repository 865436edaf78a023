// A softmax between matmuls of queries, keys and values, forward and backward, as one pattern.
#ifndef SGD_PASSES_GRAPH_ATTENTION_ATTENTION_PATTERN_H
#define SGD_PASSES_GRAPH_ATTENTION_ATTENTION_PATTERN_H

#include "passes/graph/attention/softmax_uses.h"

namespace mlir::sgd {

/// Dimensions are those of the exponentials; kOwnLabel is the depth of an operand.
struct AttentionPattern {
  AttentionScores scores;
  SoftmaxUses uses;
  SmallVector<int64_t> shape;  ///< of the exponentials
  int64_t row = -1;            ///< the dimension of queries; that of keys and values is scores.column
  LabelledValue query, key, value;

  bool hasGradients() const { return uses.weightGradient && (uses.queryGradient || uses.keyGradient); }
  int64_t getColumn() const { return scores.column; }
  /// Elements of the depth of an operand.
  static int64_t getDepth(const LabelledValue& operand);
  /// All dimensions but `left`.
  SmallVector<int64_t> getDimsWithout(int64_t left) const;
  /// Dimensions of keys and values.
  SmallVector<int64_t> getKeyDims() const;
  /// Columns up to the row plus this many are visible, and no others, whatever the batch index; nullopt where that is
  /// not so, or where masked scores are not far below all others.
  std::optional<int64_t> getDiagonal() const;
};

/// The pattern around `exponential`; nullopt where anything else reads its values, a gradient is of other tensors than
/// the forward pass read, or a type is none that attention is computed in.
std::optional<AttentionPattern> matchAttention(math::ExpOp exponential);

}  // namespace mlir::sgd

#endif
