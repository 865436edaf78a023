// Complex tensors at the boundary of a program, whose graph knows real numbers alone.
#ifndef SGD_DIALECTS_SGD_COMPLEX_PAIRS_H
#define SGD_DIALECTS_SGD_COMPLEX_PAIRS_H

#include "llvm/ADT/StringRef.h"

namespace mlir::sgd {

/// UnitAttr on an argument or result of f32 whose last dimension is two: for the user it is a complex64 tensor without
/// that dimension, which holds real and imaginary part side by side and is never sharded.
inline constexpr llvm::StringLiteral kComplexAttr = "sgd.complex";

}  // namespace mlir::sgd

#endif
