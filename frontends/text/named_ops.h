// Which dialects a text of MLIR uses, found without parsing it.
#ifndef SGD_FRONTENDS_TEXT_NAMED_OPS_H
#define SGD_FRONTENDS_TEXT_NAMED_OPS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

namespace mlir::sgd {

/// Whether `text` has an op of one of `dialects`, in custom or generic syntax. Words in comments, strings, locations,
/// types and attributes do not count. Ends at the first such op.
bool hasOpOf(llvm::ArrayRef<llvm::StringLiteral> dialects, llvm::StringRef text);

/// Whether `text` gives an op the attribute `name`, quoted or not.
bool hasAttribute(llvm::StringRef name, llvm::StringRef text);

}  // namespace mlir::sgd

#endif
