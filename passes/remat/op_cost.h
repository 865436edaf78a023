// What an op of the SPMD level costs before it is in a kernel: enough to tell cheap from expensive.
#ifndef SGD_PASSES_REMAT_OP_COST_H
#define SGD_PASSES_REMAT_OP_COST_H

#include "dialects/sgd/sgd_dialect.h"
#include "passes/cost/cost_model.h"

namespace mlir::sgd {

/// Of one execution; moving elements costs none.
double estimateFlops(Operation* op);

/// Ranks candidates; what is chosen is timed as a plan.
double estimateSeconds(Operation* op, const CostModel& cost);

}  // namespace mlir::sgd

#endif
