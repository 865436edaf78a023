// Loops that go on until all elements of tensors are done.
#ifndef SGD_PASSES_GRAPH_FUNCTIONS_ELEMENTWISE_LOOP_H
#define SGD_PASSES_GRAPH_FUNCTIONS_ELEMENTWISE_LOOP_H

#include "passes/graph/expressions/tensor_math.h"

namespace mlir::sgd {

/// Repeats `body`, which returns the next values of `inits`, while `goesOn`, of their shape, is true for any element.
/// Neither may read values from outside that are no constants it makes.
SmallVector<Value> writeWhile(TensorMath& math, ValueRange inits, function_ref<Value(TensorMath&, ValueRange)> goesOn,
                              function_ref<SmallVector<Value>(TensorMath&, ValueRange)> body);

}  // namespace mlir::sgd

#endif
