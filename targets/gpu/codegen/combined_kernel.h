// One kernel that does the work of several launches which need nothing of each other: block numbers say whose.
#ifndef SGD_TARGETS_GPU_CODEGEN_COMBINED_KERNEL_H
#define SGD_TARGETS_GPU_CODEGEN_COMBINED_KERNEL_H

#include "llvm/IR/Module.h"
#include "targets/gpu/codegen/kernel_metrics.h"
#include "targets/kernels/kernel_interface.h"

namespace mlir::sgd::gpu {

using namespace kernels;

/// A kernel, and its blocks in one of the launches.
struct CombinedPart {
  unsigned request = 0;  ///< number of the kernel's request
  int64_t blocks = 0;
};

/// A kernel `.entry symbol` whose parameters are those of the parts, one part after another, and whose grid is theirs.
struct CombinedRequest {
  std::string symbol;
  SmallVector<CombinedPart> parts;  ///< of kernels with blocks of as many threads
};

/// Adds the kernel to `module`. `emit` adds the kernel of a request under the request's symbol and gives the threads of
/// its blocks; what fails there fails here.
FailureOr<KernelMetrics> emitCombinedKernel(
    llvm::Module& module, const CombinedRequest& combined, ArrayRef<KernelRequest> requests,
    llvm::function_ref<FailureOr<unsigned>(llvm::Module&, const KernelRequest&)> emit);

}  // namespace mlir::sgd::gpu

#endif
