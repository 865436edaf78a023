// Reverse-mode differentiation of blocks.
#ifndef SGD_PASSES_GRAPH_AUTODIFF_DIFFERENTIATE_H
#define SGD_PASSES_GRAPH_AUTODIFF_DIFFERENTIATE_H

#include "passes/graph/autodiff/pullback.h"

namespace mlir::sgd {

/// Sweeps the ops of `block` in reverse. `pullback` has the gradients of what the block yields; at the end it has those
/// of the values from in front of the block. Ops of the block may be replaced by others with the same results (a loop
/// keeps what its gradient needs). Fails with a diagnostic at an op that a gradient would go through and that has no
/// derivative.
LogicalResult sweep(Block& block, Pullback& pullback);

/// Writes the gradients of the scalar `of` by `by`, both of `block`, at the insertion point of `builder`, which is
/// behind `of`. One per value of `by`, of its type; zeros where `of` does not depend on it.
FailureOr<SmallVector<Value>> differentiate(OpBuilder& builder, Block& block, Value of, ValueRange by);

}  // namespace mlir::sgd

#endif
