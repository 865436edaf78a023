// Recognises the scores of attention: a matmul of queries and keys, scaled, biased and masked, before its softmax.
#ifndef SGD_PASSES_GRAPH_ATTENTION_ATTENTION_SCORES_H
#define SGD_PASSES_GRAPH_ATTENTION_ATTENTION_SCORES_H

#include "dialects/sgd/sgd_dialect.h"
#include "dialects/sgd/splat.h"
#include "passes/graph/attention/labelled_matmul.h"

namespace mlir::sgd {

/// Scores from here down stand for minus infinity: their exponential, relative to that of any score that is no mask, is
/// 0 in every float type. A model that computes with scores as large, or whose first column in a row is not finite,
/// gets other results than with all columns.
inline constexpr double kMaskedScore = -1e8;

/// Which dimension of the exponentials each dimension of a value is; kNone: none, of one element.
using ScoreDims = SmallVector<int64_t, 6>;
inline constexpr int64_t kNone = -1;

/// Returns `dims` of a tensor after its reshape from the sizes `from` to `to`. Dimensions of more than one
/// element keep their order; nullopt where a reshape merges or splits some.
std::optional<ScoreDims> getReshapedDims(ArrayRef<int64_t> from, ArrayRef<int64_t> to, ArrayRef<int64_t> dims);

/// A value whose dimensions have names.
struct LabelledValue {
  Value value;
  SmallVector<int64_t> labels;

  bool operator==(const LabelledValue& other) const { return value == other.value && labels == other.labels; }
};

struct AttentionScores {
  math::ExpOp exponential;  ///< of scores less their row's largest one
  int64_t column = 0;       ///< the dimension that rows are summed over
  LabelledMatmul matmul;    ///< of queries and keys
  ScoreDims matmulDims;
  double scale = 1;
  Value bias;          ///< null: none; of the shape of `exponential`, transposed as
  ScoreDims biasDims;  ///< these
  Value mask;          ///< null: none
  ScoreDims maskDims;
  bool hidesWhereTrue = false;
  double fill = 0;  ///< of masked scores
};

/// The scores whose exponentials `exponential` takes, as a softmax does; nullopt when it is not one.
std::optional<AttentionScores> matchAttentionScores(math::ExpOp exponential);

/// The source of `value` through transposes and exact conversions, with labels of its dimensions.
LabelledValue stripLayout(Value value, ArrayRef<int64_t> labels);

/// Dimensions of the operand of a transpose, or of a reshape or broadcast that only adds or drops dimensions of one
/// element, from those of its result; nullopt for any other op.
std::optional<ScoreDims> getOperandDims(Operation* op, const ScoreDims& dims);

}  // namespace mlir::sgd

#endif
