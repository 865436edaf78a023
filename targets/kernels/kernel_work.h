// How much a planned kernel computes and moves, and which results may overwrite operands.
#ifndef SGD_TARGETS_KERNELS_KERNEL_WORK_H
#define SGD_TARGETS_KERNELS_KERNEL_WORK_H

#include "dialects/fusion/fusion_dialect.h"
#include "targets/kernels/kernel_interface.h"
#include "targets/kernels/kernel_plan.h"

namespace mlir::sgd::kernels {

/// Arithmetic operations, a transcendental function counted as 10.
int64_t operationsPerLaunch(const KernelPlan& plan);

/// Bytes read and written. Of what only dynamic slices see, or an update changes, that is their size.
int64_t touchedBytes(fusion::ClusterOp cluster);

/// (result, operand) of the same size where every load of the operand reads the element that the same point stores. Of
/// a scatter in loops, the initial values count as stores.
SmallVector<InPlacePair> findInPlaceCandidates(const KernelPlan& plan);

/// Bytes of a tensor in memory.
int64_t byteSize(Value tensor);

}  // namespace mlir::sgd::kernels

#endif
