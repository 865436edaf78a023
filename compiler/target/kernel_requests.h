// Turns the plan's kernels into requests to a code generator, alike for every target.
#ifndef SGD_COMPILER_KERNEL_REQUESTS_H
#define SGD_COMPILER_KERNEL_REQUESTS_H

#include "compiler/timings.h"
#include "dialects/fusion/fusion_dialect.h"
#include "dialects/plan/plan_dialect.h"
#include "passes/plan/lowering/passes.h"
#include "targets/kernels/kernel_interface.h"

namespace mlir::sgd {

/// The kernels of `plan` in its order.
SmallVector<kernels::KernelRequest> getKernelRequests(ModuleOp plan);

/// A model whose kernels are those of equal structure, described by `describe`.
KernelModel getKernelModel(std::function<FailureOr<kernels::KernelInterface>(fusion::ClusterOp)> describe,
                           Timings* timings);

/// Threads that compile kernels: as asked for, or one per core for 0.
unsigned getCompileThreads(unsigned asked);

}  // namespace mlir::sgd

#endif
