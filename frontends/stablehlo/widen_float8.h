// Reductions of 8-bit floats in a wider accumulator type, rather than rounded to 8 bits after every element.
#ifndef SGD_FRONTENDS_STABLEHLO_WIDEN_FLOAT8_H
#define SGD_FRONTENDS_STABLEHLO_WIDEN_FLOAT8_H

#include "mlir/IR/BuiltinOps.h"

namespace mlir::sgd {

/// Before import. Ops that combine elements of f8 (reductions, windows, scatters, convolutions, collectives that
/// reduce) and functions that are lowered to several ops compute in f32 and round their results once; dot_general has
/// an f32 result; extrema are computed in f16, which holds all values of f8. Ops that only move elements but may be
/// partitioned by adding zeros (gather, scatter without a sum) move the bits. So no value of f8 is ever partial. Other
/// ops keep f8 and round after each op.
void widenFloat8(ModuleOp module);

}  // namespace mlir::sgd

#endif
