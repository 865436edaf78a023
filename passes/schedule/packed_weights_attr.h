// The attribute by which reports know which weights are packed in front of loops.
#ifndef SGD_PASSES_SCHEDULE_PACKED_WEIGHTS_ATTR_H
#define SGD_PASSES_SCHEDULE_PACKED_WEIGHTS_ATTR_H

#include "llvm/ADT/StringRef.h"

namespace mlir::sgd {

/// Discardable attribute of functions: an array with a sentence for each loop, for people.
inline constexpr llvm::StringLiteral kPackedWeightsAttr = "sgd.packed_weights";

}  // namespace mlir::sgd

#endif
