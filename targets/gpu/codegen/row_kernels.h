// Kernels that go through whole rows in order: sorts, and the choice of the largest elements. A block has one row, or
// several short ones that are sorted.
#ifndef SGD_TARGETS_GPU_CODEGEN_ROW_KERNELS_H
#define SGD_TARGETS_GPU_CODEGEN_ROW_KERNELS_H

#include "llvm/IR/Module.h"
#include "dialects/fusion/fusion_dialect.h"
#include "targets/kernels/kernel_interface.h"

namespace mlir::sgd::gpu {

using namespace kernels;

/// As describeKernel, for a cluster with a row op.
KernelInterface describeRowKernel(Operation* rowOp);

/// Threads and rows of a block.
unsigned rowKernelThreads(Operation* rowOp);
int64_t rowsOfBlock(Operation* rowOp);

/// Whether rows are sorted in the memory that a block shares.
bool sortsInSharedMemory(fusion::SortRowsOp sort);

/// Adds the function; emits an error on a scalar op without code.
LogicalResult emitRowKernel(llvm::Module& module, Operation* rowOp, const KernelRequest& request);

LogicalResult emitSortKernel(llvm::Module& module, fusion::SortRowsOp sort, const KernelRequest& request);
LogicalResult emitTopKKernel(llvm::Module& module, TopKOp topK, const KernelRequest& request);

}  // namespace mlir::sgd::gpu

#endif
