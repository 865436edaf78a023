// Kernels are compiled side by side.
#ifndef SGD_TARGETS_KERNELS_HOST_THREADS_H
#define SGD_TARGETS_KERNELS_HOST_THREADS_H

#include <cstddef>

#include "llvm/ADT/STLFunctionalExtras.h"
#include "mlir/IR/MLIRContext.h"

namespace mlir::sgd::kernels {

/// Calls `body(i)` for each i below `count`, on up to `threads` threads in any order, and returns when all have
/// returned. `context`, which nothing else may use meanwhile, is safe to use in them.
void runOnHostThreads(MLIRContext& context, size_t count, unsigned threads, llvm::function_ref<void(size_t)> body);

}  // namespace mlir::sgd::kernels

#endif
