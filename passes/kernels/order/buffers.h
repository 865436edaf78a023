// Buffers while values are still tensors: which result is written to which argument's buffer.
#ifndef SGD_PASSES_KERNELS_ORDER_BUFFERS_H
#define SGD_PASSES_KERNELS_ORDER_BUFFERS_H

#include <optional>

#include "dialects/sgd/sgd_dialect.h"
#include "dialects/sgd/tensor_layout.h"

namespace mlir::sgd {

/// Whether a reduction in parts may accumulate in a buffer of `element`: floats of 16 bits would be rounded after each
/// part, where reductions round once.
bool canAccumulateInPlace(Type element);

/// For each result of `function`, the argument whose buffer it takes, or -1. A donated argument goes to its next value
/// (`sgd.carry`), else to the result that `sgd.alias_output` names, else to the first one left that has its type and
/// final sharding, results of the same name first. An argument gives its buffer once.
SmallVector<int64_t> getOutputAliases(func::FuncOp function);

/// The same for what the terminator of a block of a program yields: a loop's iter_args stay in their places, a branch's
/// results have none.
SmallVector<int64_t> getYieldAliases(Block& block);

}  // namespace mlir::sgd

#endif
