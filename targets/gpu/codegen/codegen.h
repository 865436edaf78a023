// GPU code generation for clusters: the interface of a cluster's kernel, and its code as PTX text. Assumes static local
// shapes without encodings. Nothing here depends on the rank, on the build host, or needs a GPU or a CUDA library.
#ifndef SGD_TARGETS_GPU_CODEGEN_CODEGEN_H
#define SGD_TARGETS_GPU_CODEGEN_CODEGEN_H

#include "dialects/fusion/fusion_dialect.h"
#include "targets/gpu/codegen/architecture.h"
#include "targets/gpu/codegen/combined_kernel.h"
#include "targets/gpu/codegen/kernel_metrics.h"
#include "targets/kernels/kernel_interface.h"

namespace mlir::sgd::gpu {

using namespace kernels;

/// A kernel is `.entry symbol(buffers..., coordinates...)`: the addresses, in the GPU's memory, of the cluster's
/// operands that are not overwritten in place, in order, then of its results in order, each at least 64-byte aligned;
/// then the rank's linear indices over KernelInterface::coordinates as 64-bit numbers. Its grid is `range` blocks along
/// x; blocks write disjoint bytes and may run in any order. The order of reductions follows from shapes alone.
/// Elements are row-major; i1 is one byte, 0 or 1. A range of 0 is not launched.

/// Plans the kernel of `cluster` without making code. Emits an error on the op that cannot be compiled.
FailureOr<KernelInterface> describeKernel(fusion::ClusterOp cluster);

/// Threads of a block of the kernel of `cluster`, which describeKernel has accepted; 0: of a kernel that shares no
/// launch.
unsigned getBlockThreads(fusion::ClusterOp cluster);

struct Combinations {
  std::vector<CombinedRequest> combined;
  SmallVector<bool> onlyCombined;  ///< by request: there is no kernel of its own; empty: there are all
};

struct GpuKernels {
  std::vector<std::string> modules;    ///< text of one module per architecture
  std::vector<KernelMetrics> metrics;  ///< by request, then by combined kernel
};

/// The kernels, and the combined ones, for each of `architectures`. The texts depend on requests and architectures
/// alone, not on `helpers` (at least 1), the number of host threads that compile. The requests' context must not be in
/// use by others meanwhile.
FailureOr<GpuKernels> compileKernels(ArrayRef<KernelRequest> requests, ArrayRef<Architecture> architectures,
                                     unsigned helpers, const Combinations& combinations = {});

}  // namespace mlir::sgd::gpu

#endif
