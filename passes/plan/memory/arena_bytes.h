// The sizes of a plan's spaces, as sgd-assign-offsets puts them on the module.
#ifndef SGD_PASSES_PLAN_MEMORY_ARENA_BYTES_H
#define SGD_PASSES_PLAN_MEMORY_ARENA_BYTES_H

#include "mlir/IR/BuiltinOps.h"

namespace mlir::sgd {

/// Bytes of private and window memory that a rank needs by sgd-assign-offsets, of several stages the one that needs
/// most.
uint64_t getArenaBytes(ModuleOp plan);

/// Likewise of the host's memory beside the device.
uint64_t getHostBytes(ModuleOp plan);

}  // namespace mlir::sgd

#endif
