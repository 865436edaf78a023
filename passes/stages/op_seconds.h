// What an op of a program costs for the balance of stages.
#ifndef SGD_PASSES_STAGES_OP_SECONDS_H
#define SGD_PASSES_STAGES_OP_SECONDS_H

#include "dialects/sgd/sgd_dialect.h"
#include "passes/cost/cost_model.h"

namespace mlir::sgd {

/// As estimateSeconds, and of loops and branches what is in them: as often as known trips say, else once.
double getOpSeconds(Operation* op, const CostModel& cost);

}  // namespace mlir::sgd

#endif
