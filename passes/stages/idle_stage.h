// The refusal of a stage without work.
#ifndef SGD_PASSES_STAGES_IDLE_STAGE_H
#define SGD_PASSES_STAGES_IDLE_STAGE_H

#include "passes/cost/cost_model.h"
#include "passes/stages/program_flow.h"

namespace mlir::sgd {

/// Refuses a stage, or virtual stage, without work: names the loop that accumulates gradients where there is one.
InFlightDiagnostic emitIdleStage(const ProgramFlow& flow, const CostModel& cost, unsigned stage, unsigned numStages);

}  // namespace mlir::sgd

#endif
