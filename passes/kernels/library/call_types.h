// The type of floats that holds all elements of a matmul.
#ifndef SGD_PASSES_KERNELS_LIBRARY_CALL_TYPES_H
#define SGD_PASSES_KERNELS_LIBRARY_CALL_TYPES_H

#include "mlir/IR/BuiltinTypes.h"

namespace mlir::sgd {

/// The narrowest of these types that holds all values of each; f32 for bf16 and f16, neither of which holds the other.
Type getWidestFloat(Type lhs, Type rhs, Type result);

}  // namespace mlir::sgd

#endif
