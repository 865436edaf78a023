// One block of scores is never a tensor that another op of the program sees: it is made, and made again, next to its
// uses, so that sgd-fuse-tiles or an attention kernel keeps it in the cache.
#include "passes/sharding/context/ring_step.h"

#include <cfloat>
#include <cmath>

using namespace mlir;
using namespace mlir::sgd;

static bool isTf32(const LabelledMatmul& matmul) {
  auto dot = dyn_cast<DotGeneralOp>(matmul.operator->());
  return dot && dot.getTf32();
}

/// A block may have no visible column of a row with a score above minus infinity.
bool RingStep::mayHideAll() const {
  return math.getLayout().isStriped() || math.getLayout().isPadded(pattern.getColumn()) ||
         std::isinf(pattern.scores.fill) || pattern.scores.bias;
}

LabelledValue RingStep::getMask(const BlockPlace& place) {
  const AttentionScores& scores = pattern.scores;
  if (!scores.mask) return {};
  LabelledValue mask = expression.write(math, place, scores.mask, scores.maskDims);
  if (scores.hidesWhereTrue) mask = math.negate(mask);
  // Hides nothing more, but says at compile time which columns of a tile count for nothing, whatever rank sent them.
  return math.getLayout().isStriped() ? math.both(mask, math.isOnOrBelowDiagonal(mask.labels)) : mask;
}

LabelledValue RingStep::getScores(const LabelledValue& query, const LabelledValue& key, const BlockPlace& place) {
  const AttentionScores& scores = pattern.scores;
  const RingLayout& layout = math.getLayout();
  SmallVector<int64_t> labels = layout.getScoreLabels();
  LabelledValue value = math.scale(math.dot(query, key, labels, isTf32(scores.matmul)), scores.scale);
  if (scores.bias)
    value = math.add(value, math.convert(expression.write(math, place, scores.bias, scores.biasDims),
                                         tensorType(value.value).getElementType()));
  // In striped blocks every row sees its own position: nothing that is hidden counts.
  double hidden = layout.isStriped() ? -INFINITY : scores.fill;
  if (scores.mask) value = math.select(getMask(place), value, math.splat(hidden, labels));
  if (!layout.isPadded(layout.getColumn())) return value;
  SmallVector<int64_t> position{kRanks, layout.getColumn()};
  return math.select(math.isReal(place.columnNumbers, layout.getColumn(), position), value,
                     math.splat(-INFINITY, labels));
}

RowState RingStep::addKeys(const RowState* before, const QueryBlock& queries, const KeyBlock& keys,
                           const BlockPlace& place) {
  LabelledValue scores = getScores(queries.query, keys.key, place);
  LabelledValue largest = math.reduce(scores, ReduceKind::Max, math.getLayout().getColumn());
  if (before) largest = math.maximum(before->largest, largest);
  // Never minus infinity, from which nothing can be subtracted.
  else if (mayHideAll())
    largest = math.maximum(largest, math.splat(-FLT_MAX, largest.labels));
  LabelledValue weights = math.exponential(math.subtract(scores, largest));
  LabelledValue sum = math.reduce(weights, ReduceKind::Add, math.getLayout().getColumn());
  bool tf32 = pattern.uses.out && isTf32(pattern.uses.out->op);
  LabelledValue rounded = math.convert(weights, tensorType(keys.value.value).getElementType());
  LabelledValue out = math.dot(rounded, keys.value, math.getLayout().getQueryLabels(), tf32);
  if (!before) return {largest, sum, out};
  LabelledValue kept = math.exponential(math.subtract(before->largest, largest));
  return {largest, math.add(math.multiply(before->sum, kept), sum), math.add(math.multiply(before->out, kept), out)};
}

BlockGradients RingStep::getGradients(const QueryBlock& queries, const KeyBlock& keys, const BlockPlace& place) {
  const RingLayout& layout = math.getLayout();
  LabelledValue scores = getScores(queries.query, keys.key, place);
  LabelledValue weights = math.divide(math.exponential(math.subtract(scores, queries.largest)), queries.sum);
  bool tf32 = isTf32(pattern.uses.weightGradient->op);
  LabelledValue gradient = math.dot(queries.outGradient, keys.value, layout.getScoreLabels(), tf32);
  gradient = math.multiply(weights, math.subtract(gradient, queries.rowDot));
  if (pattern.scores.mask) gradient = math.select(getMask(place), gradient, math.splat(0, gradient.labels));
  gradient = math.scale(gradient, pattern.scores.scale);
  auto rounded = [&](const LabelledValue& value, const LabelledValue& like) {
    return math.convert(value, tensorType(like.value).getElementType());
  };
  BlockGradients result;
  result.query = math.dot(rounded(gradient, keys.key), keys.key, layout.getQueryLabels(), tf32);
  result.key = math.dot(rounded(gradient, queries.query), queries.query, layout.getKeyLabels(), tf32);
  result.value = math.dot(rounded(weights, queries.outGradient), queries.outGradient, layout.getKeyLabels(), tf32);
  return result;
}
