// Hints of the program or of a pass about where elements are needed. Ops without the attributes mean the same, but send
// more.
#ifndef SGD_DIALECTS_SGD_PLACEMENT_HINTS_H
#define SGD_DIALECTS_SGD_PLACEMENT_HINTS_H

#include "mlir/IR/Operation.h"

namespace mlir::sgd {

/// On `sgd.slice`: the program says that elements along the dimensions that become one element are equal, so that a
/// rank may take any of them, one that it holds. A value that is the same on all ranks of a manual computation comes
/// out of it so.
inline constexpr llvm::StringLiteral kUniformAttr = "sgd.uniform";

/// On `sgd.dynamic_slice`: all that is computed from the block is written back to where it came from, so that only
/// ranks whose shard holds it read it. Other ranks have anything there, and nothing is partial.
inline constexpr llvm::StringLiteral kOwnerOnlyAttr = "sgd.owner_only";

inline bool hasHint(Operation* op, llvm::StringLiteral hint) { return static_cast<bool>(op->getDiscardableAttr(hint)); }
inline void setHint(Operation* op, llvm::StringLiteral hint) {
  op->setDiscardableAttr(hint, UnitAttr::get(op->getContext()));
}

}  // namespace mlir::sgd

#endif
