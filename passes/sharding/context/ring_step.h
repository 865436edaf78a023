// One step of attention on a rank, for one block of keys and values: an online softmax (Milakov and Gimelshein, 2018)
// and its gradients from a row's largest score and sum (Dao et al., FlashAttention, 2022).
#ifndef SGD_PASSES_SHARDING_CONTEXT_RING_STEP_H
#define SGD_PASSES_SHARDING_CONTEXT_RING_STEP_H

#include "passes/sharding/context/block_expression.h"

namespace mlir::sgd {

/// The state of a rank's queries after some blocks of keys; all f32.
struct RowState {
  LabelledValue largest;  ///< score of each row
  LabelledValue sum;      ///< of exponentials of scores less the largest
  LabelledValue out;      ///< sum of values, weighted so
};

/// The operands that stay on a rank.
struct QueryBlock {
  LabelledValue query;
  LabelledValue outGradient, largest, sum, rowDot;  ///< of the backward pass alone
};

struct KeyBlock {
  LabelledValue key, value;
};

struct BlockGradients {
  LabelledValue query, key, value;  ///< f32
};

class RingStep {
 public:
  RingStep(const AttentionPattern& pattern, const BlockExpression& expression, BlockMath& math)
      : pattern(pattern), expression(expression), math(math) {}

  /// The state after `keys`; `before` is null for the first block.
  RowState addKeys(const RowState* before, const QueryBlock& queries, const KeyBlock& keys, const BlockPlace& place);
  /// The share of `keys` in the gradients of the queries, and that of the queries in the gradients of `keys`.
  BlockGradients getGradients(const QueryBlock& queries, const KeyBlock& keys, const BlockPlace& place);

 private:
  LabelledValue getScores(const LabelledValue& query, const LabelledValue& key, const BlockPlace& place);
  /// True where a score is visible; null: everywhere.
  LabelledValue getMask(const BlockPlace& place);
  bool mayHideAll() const;

  const AttentionPattern& pattern;
  const BlockExpression& expression;
  BlockMath& math;
};

}  // namespace mlir::sgd

#endif
