// The refusal of a stage without work.
#ifndef SGD_PASSES_TIME_STAGES_IDLE_STAGE_H
#define SGD_PASSES_TIME_STAGES_IDLE_STAGE_H

#include "passes/time/stages/pipeline_schedule.h"
#include "passes/time/stages/program_flow.h"
#include "passes/timing/op_times.h"

namespace mlir::sgd {

/// "stage" where a stage of `form` has one chunk, else "chunk": what messages call a virtual stage.
llvm::StringRef getVirtualStageNoun(const PipelineForm& form);

/// Whether each stage of `flow` must have something to compute: a program with loops over parts of the batch needs all
/// stages, without parts a step does. An `init` may leave some idle.
bool usesAllStages(const ProgramFlow& flow);

/// Whether `loop` reads a parameter in each trip and returns a tensor of the same type: its gradient.
bool accumulatesGradients(WhileOp loop);

/// Refuses virtual stage `index` without work: names the loop that accumulates gradients where there is one.
InFlightDiagnostic emitIdleStage(const ProgramFlow& flow, const OpTimes& times, unsigned index,
                                 const PipelineForm& form);

}  // namespace mlir::sgd

#endif
