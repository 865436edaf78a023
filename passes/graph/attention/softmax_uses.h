// Finds the uses of a softmax: means of values, and the gradients of values, queries and keys.
#ifndef SGD_PASSES_GRAPH_ATTENTION_SOFTMAX_USES_H
#define SGD_PASSES_GRAPH_ATTENTION_SOFTMAX_USES_H

#include "passes/graph/attention/attention_scores.h"

namespace mlir::sgd {

/// A matmul of the weights, or of the gradients of scores, with another tensor.
struct SoftmaxMatmul {
  LabelledMatmul op;
  LabelledValue other;                ///< labels are dimensions of the exponentials, and kOwnLabel for the one left
  SmallVector<int64_t> resultLabels;  ///< likewise
};
inline constexpr int64_t kOwnLabel = -2;

/// The matmul whose result is the gradient of the weights.
struct WeightGradient {
  LabelledMatmul op;
  LabelledValue value, outGradient;
};

struct SoftmaxUses {
  std::optional<SoftmaxMatmul> out, valueGradient;          ///< of the weights, over columns and over rows
  std::optional<SoftmaxMatmul> queryGradient, keyGradient;  ///< of the scores' gradients, over columns and over rows
  std::optional<WeightGradient> weightGradient;
};

/// All uses of the exponentials of `scores`; nullopt when anything but such matmuls reads them, or values
/// computed from them, or when one of these matmuls is there twice.
std::optional<SoftmaxUses> findSoftmaxUses(const AttentionScores& scores);

}  // namespace mlir::sgd

#endif
