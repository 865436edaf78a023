// The programs of a compilation as users read them.
#ifndef SGD_COMPILER_REPORT_PROGRAM_TEXT_H
#define SGD_COMPILER_REPORT_PROGRAM_TEXT_H

#include "llvm/ADT/StringRef.h"

namespace mlir::sgd {

/// StringAttr of the module of a compilation: the text of its programs at the level that `--emit` names
/// (sgd-record-text).
inline constexpr llvm::StringLiteral kTextAttr = "sgd.text";

}  // namespace mlir::sgd

#endif
