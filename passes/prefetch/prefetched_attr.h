// The attribute by which reports know which gathers start an iteration ahead.
#ifndef SGD_PASSES_PREFETCH_PREFETCHED_ATTR_H
#define SGD_PASSES_PREFETCH_PREFETCHED_ATTR_H

#include "llvm/ADT/StringRef.h"

namespace mlir::sgd {

/// Discardable attribute of functions: an array with a sentence for each loop, for people.
inline constexpr llvm::StringLiteral kPrefetchedAttr = "sgd.prefetched";

}  // namespace mlir::sgd

#endif
