// Convolutions that no library takes, as kernels: of integers, with windows in unusual directions, and the like.
#ifndef SGD_TARGETS_GPU_CODEGEN_CONVOLUTION_KERNEL_H
#define SGD_TARGETS_GPU_CODEGEN_CONVOLUTION_KERNEL_H

#include "llvm/IR/Module.h"
#include "dialects/fusion/fusion_dialect.h"
#include "targets/kernels/kernel_interface.h"

namespace mlir::sgd::gpu {

using namespace kernels;

/// Threads of a block.
inline constexpr unsigned kConvolutionThreads = 128;

/// The convolution of a cluster that holds nothing else, or null.
fusion::ConvolutionOp getConvolution(fusion::ClusterOp cluster);

/// As describeKernel, for such a cluster.
KernelInterface describeConvolutionKernel(fusion::ConvolutionOp convolution);

/// Adds the function: a thread has one element of the result and takes its sum in the order of taps, then features.
void emitConvolutionKernel(llvm::Module& module, fusion::ConvolutionOp convolution, const KernelRequest& request);

}  // namespace mlir::sgd::gpu

#endif
