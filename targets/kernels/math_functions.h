// Elementary functions as straight-line code on lane values, without library calls. Errors are a few ulp at most;
// results for NaN, infinities, zeros and denormals are those of IEEE 754 / C.
#ifndef SGD_TARGETS_KERNELS_MATH_FUNCTIONS_H
#define SGD_TARGETS_KERNELS_MATH_FUNCTIONS_H

#include "targets/kernels/vector_builder.h"

namespace mlir::sgd::kernels {

/// The function that the math dialect calls `name` ("exp", "atan2", ...) of floats or doubles; null when there is none.
llvm::Value* emitMathFunction(const VectorBuilder& v, llvm::StringRef name, llvm::ArrayRef<llvm::Value*> arguments);

/// The remainder of C's fmod: x - trunc(x / y) * y, exact.
llvm::Value* emitRemainder(const VectorBuilder& v, llvm::Value* x, llvm::Value* y);

}  // namespace mlir::sgd::kernels

#endif
