// What the frontend knows about an argument beyond its type; discardable attributes that go through to the artifact.
#ifndef SGD_DIALECTS_SGD_INPUT_ATTRS_H
#define SGD_DIALECTS_SGD_INPUT_ATTRS_H

#include "llvm/ADT/StringRef.h"

namespace mlir::sgd {

/// I64Attr, 2 or 4: the integers of this argument have so many bits for the user, and are kept in 8.
inline constexpr llvm::StringLiteral kNarrowBitsAttr = "sgd.narrow_bits";

}  // namespace mlir::sgd

#endif
