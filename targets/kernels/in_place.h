// The results of a planned kernel that may overwrite operands.
#ifndef SGD_TARGETS_KERNELS_IN_PLACE_H
#define SGD_TARGETS_KERNELS_IN_PLACE_H

#include "dialects/fusion/fusion_dialect.h"
#include "targets/kernels/kernel_interface.h"
#include "targets/kernels/kernel_plan.h"

namespace mlir::sgd::kernels {

/// (result, operand) of the same size where every load of the operand reads the element that the same point stores. Of
/// a scatter in loops, the initial values count as stores.
SmallVector<InPlacePair> findInPlaceCandidates(const KernelPlan& plan);

/// Bytes of a tensor in memory.
int64_t byteSize(Value tensor);

}  // namespace mlir::sgd::kernels

#endif
