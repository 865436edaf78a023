// The attribute by which reports know what sgd-choose-shardings chose.
#ifndef SGD_PASSES_CHOICE_CHOICE_ATTR_H
#define SGD_PASSES_CHOICE_CHOICE_ATTR_H

#include "llvm/ADT/StringRef.h"

namespace mlir::sgd {

/// Discardable StringAttr of functions: the form that the program has been given, and what that saves, for people.
inline constexpr llvm::StringLiteral kChoiceAttr = "sgd.choice";

}  // namespace mlir::sgd

#endif
