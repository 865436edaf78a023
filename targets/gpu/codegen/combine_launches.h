// Which launches of a group become one: a launch takes a GPU longer to begin than a small kernel takes to run.
#ifndef SGD_TARGETS_GPU_CODEGEN_COMBINE_LAUNCHES_H
#define SGD_TARGETS_GPU_CODEGEN_COMBINE_LAUNCHES_H

#include <cstdint>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

namespace mlir::sgd::gpu {

struct LaunchShape {
  unsigned kernel = 0;
  unsigned threads = 0;     ///< of a block of the kernel; 0: it shares no launch
  unsigned parameters = 0;  ///< of 64 bits
  int64_t blocks = 0;
};

/// Sets of at least two of the launches, by position, that a combined kernel may do together: their blocks have as many
/// threads, their parameters fit into one launch. Those that fill a GPU by themselves are joined with their like alone,
/// whose code needs no more registers.
llvm::SmallVector<llvm::SmallVector<unsigned>> combineLaunches(llvm::ArrayRef<LaunchShape> launches);

}  // namespace mlir::sgd::gpu

#endif
