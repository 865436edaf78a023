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

/// Seconds of `op` by `estimate`; of loops and branches of what is in them: as often as known trips say, else once.
double estimateNestedSeconds(Operation* op, llvm::function_ref<double(Operation*)> estimate);

}  // namespace mlir::sgd

#endif
