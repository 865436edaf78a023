// Slices of sums of padded values: what is cut off again is not padded in the first place.
#ifndef SGD_FRONTENDS_STABLEHLO_SLICE_OF_PADS_H
#define SGD_FRONTENDS_STABLEHLO_SLICE_OF_PADS_H

#include "frontends/stablehlo/op_lowering.h"

namespace mlir::sgd {

/// The elements [starts, limits) of `value`, cut where `value` is made: pads become smaller, summands are cut each. JAX
/// prints the gradient of a padded window as a select_and_scatter onto the padded operand and a slice of it.
Value sliceOfPads(OpLowering& l, Value value, ArrayRef<int64_t> starts, ArrayRef<int64_t> limits);

}  // namespace mlir::sgd

#endif
