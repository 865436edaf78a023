// Loops that accumulate over their iterations.
#ifndef SGD_FRONTENDS_STABLEHLO_ACCUMULATING_LOOP_H
#define SGD_FRONTENDS_STABLEHLO_ACCUMULATING_LOOP_H

#include "frontends/stablehlo/input/region_ops.h"

namespace mlir::sgd {

/// Whether most of what `loop` writes are accumulators that it only adds to, such as the gradients of micro-batches,
/// and not slices of a stack, such as the gradients of layers. Unrolled, such a loop would hold the activations of all
/// iterations at once. `functions` are those that the body may call, by name.
bool isAccumulating(stablehlo::WhileOp loop, const DenseMap<StringAttr, func::FuncOp>& functions);

}  // namespace mlir::sgd

#endif
