// The attribute by which reports know which matmuls were moved out of loops.
#ifndef SGD_PASSES_HOIST_HOISTED_ATTR_H
#define SGD_PASSES_HOIST_HOISTED_ATTR_H

#include "llvm/ADT/StringRef.h"

namespace mlir::sgd {

/// Discardable attribute of functions: an array with a sentence for each loop, for people.
inline constexpr llvm::StringLiteral kHoistedAttr = "sgd.hoisted";

}  // namespace mlir::sgd

#endif
