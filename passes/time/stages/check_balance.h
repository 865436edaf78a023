// The refusal of pipelines in which one stage has most of the work, or one has none.
#ifndef SGD_PASSES_TIME_STAGES_CHECK_BALANCE_H
#define SGD_PASSES_TIME_STAGES_CHECK_BALANCE_H

#include "passes/time/stages/pipeline_plan.h"

namespace mlir::sgd {

/// Fails with an error if a stage of `plan` has nothing to compute, or a loop of the source most; warns if one stage
/// has most for other reasons. Without parts of the batch one stage computes at a time: no balance is asked for.
LogicalResult checkBalance(const PipelinePlan& plan, const OpTimes& times);

}  // namespace mlir::sgd

#endif
