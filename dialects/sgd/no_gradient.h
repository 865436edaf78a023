// Ops whose results differentiation treats as constants.
#ifndef SGD_DIALECTS_SGD_NO_GRADIENT_H
#define SGD_DIALECTS_SGD_NO_GRADIENT_H

#include "llvm/ADT/StringRef.h"

namespace mlir::sgd {

/// Unit attribute of an op. Differentiation treats its results as constants.
inline constexpr llvm::StringLiteral kNoGradientAttr = "sgd.no_gradient";

}  // namespace mlir::sgd

#endif
