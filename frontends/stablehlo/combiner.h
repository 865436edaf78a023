// Recognises bodies of reductions that are one of the ReduceKinds.
#ifndef SGD_FRONTENDS_STABLEHLO_COMBINER_H
#define SGD_FRONTENDS_STABLEHLO_COMBINER_H

#include "frontends/stablehlo/op_lowering.h"

namespace mlir::sgd {

/// Looks through annotations, which say nothing about scalars.
Value skipConstraints(Value value);

/// How a body computes its result `index` from the arguments `index` (old) and `index + count`
/// (new): op(old, new) of a kind.
std::optional<ReduceKind> matchCombiner(Block& body, unsigned index, unsigned count);

/// Max or min for a body over (value, position) pairs that keeps the greater or lesser value with its position, NaN
/// before all others, and the smaller position of equal values: JAX's argmax and argmin. Nullopt for any other body.
std::optional<ReduceKind> matchArgExtremum(Block& body);

/// True when starting from `init` adds nothing.
bool isNeutral(OpLowering& l, Value init, ReduceKind kind);

}  // namespace mlir::sgd

#endif
