// The choice between schedules of a pipeline by the times that reports give.
#ifndef SGD_COMPILER_CHOOSE_SCHEDULE_H
#define SGD_COMPILER_CHOOSE_SCHEDULE_H

#include "compiler/options.h"
#include "compiler/target/target.h"
#include "compiler/timings.h"
#include "mlir/IR/BuiltinOps.h"

namespace mlir::sgd {

/// Names a schedule on the meshes of `programs`, of which the recipe leaves a choice: plans each schedule up to its
/// memory, and takes the one with the least estimate of a step. A schedule that fits the memory limit precedes one that
/// does not; where none fits, the one with the smallest peak is taken. Programs are of one coordinate of the sequential
/// axis, as addLocalizeStage leaves them. Names none where no schedule can be planned.
void chooseSchedule(ArrayRef<ModuleOp> programs, const CompileOptions& options, const Target& target, Timings* timings);

}  // namespace mlir::sgd

#endif
