// Convolutions that no library takes, as kernels: of integers, with windows in unusual directions, and the like.
#ifndef SGD_TARGETS_GPU_CODEGEN_CONVOLVE_KERNEL_H
#define SGD_TARGETS_GPU_CODEGEN_CONVOLVE_KERNEL_H

#include "llvm/IR/Module.h"
#include "targets/kernels/kernel_interface.h"

namespace mlir::sgd::gpu {

using namespace kernels;

/// Threads of a block.
inline constexpr unsigned kConvolveThreads = 128;

/// The convolution of a cluster that holds nothing else, or null.
ConvolveOp getConvolve(ClusterOp cluster);

/// As describeKernel, for such a cluster.
KernelInterface describeConvolveKernel(ClusterOp cluster, ConvolveOp convolve);

/// Adds the function: a thread has one element of the result and takes its sum in the order of taps, then features.
void emitConvolveKernel(llvm::Module& module, ConvolveOp convolve, const KernelRequest& request);

}  // namespace mlir::sgd::gpu

#endif
