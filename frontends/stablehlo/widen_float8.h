// Sums of floats of 8 bits, which nobody wants rounded to 8 bits after each summand.
#ifndef SGD_FRONTENDS_STABLEHLO_WIDEN_FLOAT8_H
#define SGD_FRONTENDS_STABLEHLO_WIDEN_FLOAT8_H

#include "mlir/IR/BuiltinOps.h"

namespace mlir::sgd {

/// Before import: what combines elements of f8 (reductions, windows, scatters, convolutions, sums between ranks) does
/// so in f32 and rounds its results once, as do functions that take several steps; extrema in f16, which holds all
/// values of f8; results of dot products too. What only moves elements that ranks may have to add zeros to (gather,
/// scatter without a sum) moves their bits. So no value of f8 is ever a sum of summands on several ranks. Other ops
/// keep f8, and round after each op.
void widenFloat8(ModuleOp module);

}  // namespace mlir::sgd

#endif
