// Loops whose number of iterations follows from their text.
#ifndef SGD_FRONTENDS_STABLEHLO_COUNTED_LOOP_H
#define SGD_FRONTENDS_STABLEHLO_COUNTED_LOOP_H

#include "frontends/stablehlo/input/region_ops.h"

namespace mlir::sgd {

/// A loop that counts by `step` from `start` while a comparison with a known bound holds.
struct CountedLoop {
  unsigned counter;  // position among the operands
  APInt start, step;
  int64_t trips;

  /// The counter's value in iteration `trip`.
  APInt getCount(int64_t trip) const { return start + step * static_cast<uint64_t>(trip); }
};

/// Looks for the counter of `loop`. `getOuter` gives the integer scalars that are known outside of it. nullopt when the
/// condition is no such comparison, or the counter would wrap around before it fails.
std::optional<CountedLoop> analyzeLoop(stablehlo::WhileOp loop,
                                       llvm::function_ref<std::optional<APInt>(Value)> getOuter);

/// The integer of a tensor of one element.
std::optional<APInt> getScalar(DenseElementsAttr elements);

}  // namespace mlir::sgd

#endif
