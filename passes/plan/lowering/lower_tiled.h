// fusion.tiled to plan.tiled.
#ifndef SGD_PASSES_PLAN_LOWERING_LOWER_TILED_H
#define SGD_PASSES_PLAN_LOWERING_LOWER_TILED_H

#include "dialects/fusion/fusion_dialect.h"
#include "passes/plan/lowering/kernel_table.h"

namespace mlir::sgd {

/// Creates the plan.tiled for `tiled` on the buffers of its operands and results, with scratch memory assigned. Emits
/// an error on an op of the body that cannot run on parts of buffers: a kernel needs contiguous parts that begin at
/// multiples of 64 bytes.
LogicalResult createTiled(OpBuilder& builder, fusion::TiledOp tiled, ValueRange inputs, ValueRange outputs,
                          KernelTable& kernels);

}  // namespace mlir::sgd

#endif
