// Reverse-mode differentiation of blocks.
#ifndef SGD_PASSES_GRAPH_AUTODIFF_DIFFERENTIATE_H
#define SGD_PASSES_GRAPH_AUTODIFF_DIFFERENTIATE_H

#include "passes/graph/autodiff/pullback.h"

namespace mlir::sgd {

/// Sweeps the ops of `block` in reverse. `pullback` starts with the gradients of the block's results and ends with the
/// gradients of its arguments and of values defined outside. May replace ops of the block by ops with the same results:
/// a loop additionally stores the values that its gradient reads. Fails with a diagnostic at an op without a
/// derivative.
LogicalResult sweep(Block& block, Pullback& pullback);

/// Writes the gradients of the scalar `of` with respect to the values `by`, all in `block`. Writes at the insertion
/// point of `builder`, which must come after `of`. Returns one
/// gradient per value of `by`, with its type; null if `of` does not depend on it.
FailureOr<SmallVector<Value>> differentiate(OpBuilder& builder, Block& block, Value of, ValueRange by);

}  // namespace mlir::sgd

#endif
