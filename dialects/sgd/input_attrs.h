// What the frontend knows about an argument beyond its type; discardable attributes that go through to the artifact.
#ifndef SGD_DIALECTS_SGD_INPUT_ATTRS_H
#define SGD_DIALECTS_SGD_INPUT_ATTRS_H

#include "llvm/ADT/StringRef.h"

namespace mlir::sgd {

/// I64Attr, 2 or 4: the integers of this argument have so many bits for the user, and are kept in 8.
inline constexpr llvm::StringLiteral kNarrowBitsAttr = "sgd.narrow_bits";
/// UnitAttr: the argument is the state of the generator of stablehlo.rng, which no program of a user has. Of an input's
/// sdy.manual_computation: the last result is that state, and ranks may leave with different ones.
inline constexpr llvm::StringLiteral kGeneratorAttr = "sgd.generator";

}  // namespace mlir::sgd

#endif
