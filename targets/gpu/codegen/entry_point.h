// The entry of a kernel: its parameters, by what they mean for the cluster.
#ifndef SGD_TARGETS_GPU_CODEGEN_ENTRY_POINT_H
#define SGD_TARGETS_GPU_CODEGEN_ENTRY_POINT_H

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Module.h"
#include "targets/kernels/kernel_interface.h"

namespace mlir::sgd::gpu {

using namespace kernels;

struct EntryPoint {
  llvm::Function* function = nullptr;
  SmallVector<llvm::Value*> operands, results;  ///< addresses; an operand that is overwritten has its result's
  SmallVector<bool> overwritten;                ///< by operand
  SmallVector<llvm::Value*> coordinates;        ///< i64
};

/// Adds an empty function for `request` to `module`, for blocks of `threads`, and sets the builder into it.
EntryPoint createEntryPoint(llvm::Module& module, llvm::IRBuilder<>& b, const KernelRequest& request,
                            unsigned coordinates, unsigned threads);

}  // namespace mlir::sgd::gpu

#endif
