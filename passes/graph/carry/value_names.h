// Names of values that the user of a step knows: parameters, their gradients and their next values, by name.
#ifndef SGD_PASSES_GRAPH_CARRY_VALUE_NAMES_H
#define SGD_PASSES_GRAPH_CARRY_VALUE_NAMES_H

#include <string>

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::sgd {

/// "params.layer0.w" for "params['layer0']['w']": as recipes name tensors.
std::string getDottedName(StringRef name);

/// Returns the name of an argument; "argument 3" if it has none.
std::string getDottedName(func::FuncOp function, unsigned argument);

/// A name for `value`, by what it is computed from and becomes element by element, through reshards, loops and
/// branches: "params.w" or "input x" for an argument or a part of it, "gradient of params.w", "new params.w" for the
/// argument's next value, "result.0.loss" for another result, "activations for the gradient of params.w" for what a
/// matmul reads that is such a gradient, "activations of layer0/mlp" by the scope that makes it, and nothing for what
/// has no scope.
std::string describeValue(func::FuncOp function, Value value);

}  // namespace mlir::sgd

#endif
