// Losses of predictions, element by element, and their means.
#ifndef SGD_PASSES_GRAPH_FUNCTIONS_LOSSES_H
#define SGD_PASSES_GRAPH_FUNCTIONS_LOSSES_H

#include "passes/graph/expressions/tensor_math.h"

namespace mlir::sgd {

/// The softmax over `dim`, or its logarithm. No gradient goes through the maximum that is subtracted.
Value writeSoftmax(TensorMath& math, Value value, int64_t dim, bool isLogarithm);

/// Losses, and what each of them counts in a mean; null: one.
struct Losses {
  Value losses, counts;
};

/// The sum over all elements.
Value writeSum(TensorMath& math, Value value);

/// The sum over all elements divided by what they count.
Value writeMean(TensorMath& math, const Losses& losses);

/// Labels of classes. Where a label is `ignored`, the loss is 0 and counts nothing.
struct LabelOptions {
  int64_t dim = 0;       ///< of the classes, in the scores
  double smoothing = 0;  ///< the share that all classes get equally
  int64_t ignored = -100;
  Value weights = {};  ///< [classes]; null: all are 1
};

/// -log p of each label. `logs` are logarithms of probabilities; `labels` are integers of their shape without `dim`.
Losses writeLabelLosses(TensorMath& math, Value logs, Value labels, const LabelOptions& options);

/// -sum of target * log p over `dim`. `targets` are probabilities, of the shape and type of `logs`.
Value writeSoftLabelLosses(TensorMath& math, Value logs, Value targets, int64_t dim, double smoothing);

/// Binary cross-entropies of logits and targets in [0, 1], which have one shape. `positiveWeights`, of the same shape,
/// multiply what targets of 1 lose; null: 1.
Value writeBinaryLosses(TensorMath& math, Value logits, Value targets, Value positiveWeights = {});

/// Whether the largest score along `dim` is that of the label, and which labels count: floats of the scores' type.
Losses writeHits(TensorMath& math, Value scores, Value labels, const LabelOptions& options);

}  // namespace mlir::sgd

#endif
