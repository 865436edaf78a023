// Cumulative sums and the like as kernels: each element combined with all before it.
#ifndef SGD_TARGETS_GPU_CODEGEN_SCAN_KERNEL_H
#define SGD_TARGETS_GPU_CODEGEN_SCAN_KERNEL_H

#include "llvm/IR/Module.h"
#include "dialects/fusion/fusion_dialect.h"
#include "targets/kernels/kernel_interface.h"

namespace mlir::sgd::gpu {

using namespace kernels;

/// The cumulative op of a cluster that holds nothing else, or null.
CumulativeOp getScan(fusion::ClusterOp cluster);

/// As describeKernel, for such a cluster.
KernelInterface describeScanKernel(CumulativeOp scan);

/// Threads of a block.
unsigned scanThreads(CumulativeOp scan);

/// Adds the function. Along the last dimension threads share rows: each combines neighbouring elements, a warp those of
/// its threads, a block those of its warps, and what follows in the row goes on from there. Along another one a thread
/// goes through a column.
void emitScanKernel(llvm::Module& module, CumulativeOp scan, const KernelRequest& request);

}  // namespace mlir::sgd::gpu

#endif
