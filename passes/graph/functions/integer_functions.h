// Functions of integers that the graph level has no op for. Elementwise.
#ifndef SGD_PASSES_GRAPH_FUNCTIONS_INTEGER_FUNCTIONS_H
#define SGD_PASSES_GRAPH_FUNCTIONS_INTEGER_FUNCTIONS_H

#include "passes/graph/expressions/tensor_math.h"

namespace mlir::sgd {

/// base ^ exponent, which wraps. Signed: a negative exponent gives the reciprocal rounded to zero, so 0 unless the base
/// is 1 or -1. `known` is the exponent of all elements; null: only `exponent` has it.
Value writeIntegerPower(TensorMath& math, Value base, Value exponent, IntegerAttr known, bool isUnsigned);

/// The greatest common divisor, not negative, of signed integers; 0 of two zeros. A loop of Euclid's steps until all
/// elements are done.
Value writeGreatestDivisor(TensorMath& math, Value a, Value b);

}  // namespace mlir::sgd

#endif
