// Random floats from random words.
#ifndef SGD_PASSES_GRAPH_FUNCTIONS_RANDOM_NUMBERS_H
#define SGD_PASSES_GRAPH_FUNCTIONS_RANDOM_NUMBERS_H

#include "passes/graph/expressions/tensor_math.h"

namespace mlir::sgd {

/// Floats of f32, uniform in [0, 1), from words of i32.
Value writeUniform(TensorMath& math, Value words);

/// Floats of f32 from the standard normal distribution, from words of i32. With a `bound`, which is positive, from the
/// part of the distribution between -bound and bound.
Value writeNormal(TensorMath& math, Value words, double bound = 0);

}  // namespace mlir::sgd

#endif
