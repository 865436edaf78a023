// SPMD collectives as plan.collective.
#ifndef SGD_PASSES_PLAN_LOWERING_LOWER_COLLECTIVE_H
#define SGD_PASSES_PLAN_LOWERING_LOWER_COLLECTIVE_H

#include "dialects/plan/plan_dialect.h"
#include "dialects/spmd/spmd_dialect.h"

namespace mlir::sgd {

/// The instruction of the SPMD collective `op`, on window buffers. Fails with an error on `op` for a way of combining
/// that no communicator has.
LogicalResult createCollective(OpBuilder& builder, Operation* op, ValueRange sources, ValueRange targets);

}  // namespace mlir::sgd

#endif
