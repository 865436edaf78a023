// The attribute by which reports know which matmuls are rings.
#ifndef SGD_PASSES_RINGS_RINGS_ATTR_H
#define SGD_PASSES_RINGS_RINGS_ATTR_H

#include "llvm/ADT/StringRef.h"

namespace mlir::sgd {

/// Discardable attribute of functions: an array with a sentence for each ring, for people.
inline constexpr llvm::StringLiteral kRingsAttr = "sgd.rings";

}  // namespace mlir::sgd

#endif
