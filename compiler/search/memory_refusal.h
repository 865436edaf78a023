// The message when a program does not fit.
#ifndef SGD_COMPILER_MEMORY_REFUSAL_H
#define SGD_COMPILER_MEMORY_REFUSAL_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::sgd {

/// Names the smallest limit that can be met, which is the `peak` of the plan, and the largest buffers of `program`,
/// when `limit` (what the user calls it) allows fewer bytes. Fails always.
LogicalResult emitMemoryRefusal(func::FuncOp program, uint64_t peak, uint64_t allowed, StringRef limit);

}  // namespace mlir::sgd

#endif
