// One draw of stablehlo.rng as ops on the generator's state.
#ifndef SGD_FRONTENDS_STABLEHLO_PREPARE_DRAW_NUMBERS_H
#define SGD_FRONTENDS_STABLEHLO_PREPARE_DRAW_NUMBERS_H

#include "frontends/stablehlo/input/library_ops.h"
#include "mlir/IR/Builders.h"

namespace mlir::sgd {

struct DrawnNumbers {
  Value numbers;  // of the op's result type
  Value state;    // behind the draw
};

/// The numbers of `op`, built from bits of threefry2x32 drawn from `state` (two ui64). Uniform floats are a + (b - a) *
/// u with u in [0, 1) of as many bits as the type's mantissa has, uniform integers a + bits mod (b - a), normal ones
/// mean + deviation * sqrt(2) * erf_inv(2 u - 1). Fails, having reported it, on other element types.
FailureOr<DrawnNumbers> drawNumbers(stablehlo::RngOp op, Value state, OpBuilder& builder);

}  // namespace mlir::sgd

#endif
